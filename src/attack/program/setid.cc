// Leaving a set-id file, one with capabilities, or a device node in a place that the caller made writable. The judge
// searches the repo afterwards.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

constexpr mode_t kSetUser = 04755;
constexpr mode_t kSetGroup = 02755;
constexpr unsigned long kHighBits = 0xdeadbeefUL << 32U;

std::string planted() { return arg("repo") + "/planted"; }

// A file of our own to begin with; it is no attack.
std::string plain_file() {
  put(planted(), "#!/bin/sh\nid\n");
  return planted();
}

void by_chmod(unsigned long mode) { syscall(SYS_chmod, plain_file().c_str(), mode); }

void by_fchmod() {
  const int fd = open(plain_file().c_str(), O_RDONLY | O_CLOEXEC);
  fchmod(fd, kSetUser);
}

void by_fchmodat2() {
  constexpr long kFchmodat2 = 452;
  syscall(kFchmodat2, AT_FDCWD, plain_file().c_str(), kSetUser, 0);
}

void by_tmpfile() {
  const int fd = open(arg("repo").c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kSetUser);
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  linkat(AT_FDCWD, self.c_str(), AT_FDCWD, planted().c_str(), AT_SYMLINK_FOLLOW);
}

void by_openat2() {
  open_how how{};
  how.flags = O_CREAT | O_WRONLY | O_CLOEXEC;
  how.mode = kSetUser;
  syscall(SYS_openat2, AT_FDCWD, planted().c_str(), &how, sizeof how);
}

void on_directory() {
  mkdir(planted().c_str(), 0755);
  chmod(planted().c_str(), kSetGroup);
}

// A socket's file takes its mode from the socket.
void by_socket() {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  fchmod(fd, kSetUser);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  strncpy(name.sun_path, planted().c_str(), sizeof name.sun_path - 1);
  bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name);
}

void by_capabilities() {
  vfs_cap_data capabilities{};
  capabilities.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  capabilities.data[0].permitted = 1U << CAP_NET_RAW;
  setxattr(plain_file().c_str(), "security.capability", &capabilities, sizeof capabilities, 0);
}

// For a user id of a namespace: what a process with capabilities only there may write (Linux 4.14).
void by_namespaced_capabilities() {
  vfs_ns_cap_data capabilities{};
  capabilities.magic_etc = VFS_CAP_REVISION_3 | VFS_CAP_FLAGS_EFFECTIVE;
  capabilities.data[0].permitted = 1U << CAP_NET_RAW;
  capabilities.rootid = 0;
  setxattr(plain_file().c_str(), "security.capability", &capabilities, sizeof capabilities, 0);
}

#ifdef __x86_64__
void by_i386() {
  constexpr long kChmod = 15;
  static char name[4096];  // below 4 GiB: this program is not position independent
  strncpy(name, plain_file().c_str(), sizeof name - 1);
  long result = kChmod;
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(&name[0]), "c"(static_cast<long>(kSetUser))
               : "memory", "r8", "r9", "r10", "r11");
}
#else
void by_i386() {}
#endif

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"setid_chmod", [] { by_chmod(kSetUser); }},
    Entry{"setid_group", [] { by_chmod(kSetGroup); }},
    Entry{"setid_high_bits", [] { by_chmod(kHighBits | kSetUser); }},
    Entry{"setid_fchmod", by_fchmod},
    Entry{"setid_fchmodat", [] { syscall(SYS_fchmodat, AT_FDCWD, plain_file().c_str(), kSetUser); }},
    Entry{"setid_fchmodat2", by_fchmodat2},
    Entry{"setid_open", [] { syscall(SYS_open, planted().c_str(), O_CREAT | O_WRONLY, kSetUser); }},
    Entry{"setid_openat", [] { openat(AT_FDCWD, planted().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, kSetUser); }},
    Entry{"setid_creat", [] { syscall(SYS_creat, planted().c_str(), kSetUser); }},
    Entry{"setid_tmpfile", by_tmpfile},
    Entry{"setid_openat2", by_openat2},
    Entry{"setid_mknod", [] { syscall(SYS_mknod, planted().c_str(), S_IFREG | kSetUser, 0); }},
    Entry{"setid_mknodat", [] { syscall(SYS_mknodat, AT_FDCWD, planted().c_str(), S_IFIFO | kSetUser, 0); }},
    Entry{"setid_directory", on_directory},
    Entry{"setid_socket", by_socket},
    Entry{"setid_int80", by_i386},
    Entry{"setid_capabilities", by_capabilities},
    Entry{"setid_namespaced_caps", by_namespaced_capabilities},
    Entry{"setid_whiteout", [] { mknod(planted().c_str(), S_IFCHR, makedev(0, 0)); }},
});

}  // namespace

std::span<const Entry> setid_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
