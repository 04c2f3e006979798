// Each line that must be found says so; everything else must not be.
use std::process::Command; // expect: rust-command
use std::process::{self, Command as Start}; // expect: rust-command
use std::process::exit;
use std::os::unix::process::CommandExt; // expect: rust-exec
fn main() {
    let one = std::process::Command::new("ls"); // expect: rust-command
    let two = process::Command::new("ls"); // expect: rust-command
    unsafe { libc::fork() }; // expect: rust-libc-process
    let text = "std::process::Command";
    process::exit(0);
}
