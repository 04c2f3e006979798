// The same deeds in other words. Each line that must be found says so; everything else must not be.
use std::process as p; // expect: rust-command
use std::{fs, process as q}; // expect: rust-command
use std::{process::{self as r}}; // expect: rust-command
use libc::{c_int, system}; // expect: rust-libc-process
use nix::unistd::*; // expect: rust-libc-process
use libc::c_char;
extern "C" {
    fn system(command: *const c_char) -> c_int; // expect: rust-libc-process
    fn puts(text: *const c_char) -> c_int;
}
fn main() {
    let one = s::process::Command::new("ls"); // expect: rust-command
    let two = std :: process :: Command::new("ls"); // expect: rust-command
    let three = std::r#process::Command::new("ls"); // expect: rust-command
    unsafe { libc::syscall(libc::SYS_execve, 0) }; // expect: rust-libc-process
}
