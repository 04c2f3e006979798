// Mounts and namespaces. Each deed first takes namespaces of its own where it can: where it works, nobody is harmed.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

const char* repo() {
  static const std::string path = arg("repo");
  return path.c_str();
}

void mount_tmpfs() {
  if (harmless() && mount("attack", repo(), "tmpfs", 0, nullptr) == 0) broken();
}

void mount_bind() {
  if (harmless() && mount("/usr", repo(), nullptr, MS_BIND | MS_REC, nullptr) == 0) broken();
}

void mount_remount() {
  if (!harmless()) return;
  mount("/usr", "/usr", nullptr, MS_BIND | MS_REC, nullptr);
  if (mount(nullptr, "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0) broken();
}

void unmount() {
  if (!harmless()) return;
  mount("attack", repo(), "tmpfs", 0, nullptr);
  for (const char* place : {repo(), "/tmp", "/proc", "/home"}) {
    if (umount2(place, MNT_DETACH) == 0) broken();
  }
}

void new_mount_api(long number, long first) {
  if (harmless()) broken_if_looked_at(syscall(number, first, "", -1, "", 0));
}

void fsopen_tmpfs() {
  if (harmless()) broken_if_looked_at(syscall(SYS_fsopen, "tmpfs", 0));
}

void open_tree_clone() {
  constexpr long kOpenTreeClone = 1;
  if (harmless()) broken_if_looked_at(syscall(SYS_open_tree, AT_FDCWD, repo(), kOpenTreeClone));
}

void pivot() {
  if (harmless()) broken_if_looked_at(syscall(SYS_pivot_root, "", ""));
}

void chroot_escape() {
  if (harmless() && chroot(repo()) == 0) broken();
}

void unshare_user() {
  if (unshare(CLONE_NEWUSER) == 0) broken();
}

void clone_newuser() {
  const long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) _exit(0);
  if (child > 0) broken();
}

void clone3_newuser() {
  unsigned long how[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
  const long child = syscall(SYS_clone3, how, sizeof how);
  if (child == 0) _exit(0);
  if (child > 0) broken();
}

void mknod_device() {
  const std::string path = arg("repo") + "/made-device";
  if (mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0 && open(path.c_str(), O_RDONLY) >= 0) broken();
}

void device_in_repo() {
  if (open((arg("repo") + "/device").c_str(), O_RDONLY) >= 0) broken();
}

void open_by_handle() {
  alignas(file_handle) char space[sizeof(file_handle) + 128] = {};
  auto* const handle = reinterpret_cast<file_handle*>(space);
  handle->handle_bytes = 128;
  int mount_id = 0;
  if (name_to_handle_at(AT_FDCWD, repo(), handle, &mount_id, 0) != 0) return;
  const int mount_fd = open(repo(), O_RDONLY | O_DIRECTORY);
  if (open_by_handle_at(mount_fd, handle, O_RDONLY) >= 0) broken();
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"mount_tmpfs", mount_tmpfs},
    Entry{"mount_bind", mount_bind},
    Entry{"mount_remount", mount_remount},
    Entry{"umount", unmount},
    Entry{"fsopen", fsopen_tmpfs},
    Entry{"open_tree", open_tree_clone},
    Entry{"move_mount", [] { new_mount_api(SYS_move_mount, -1); }},
    Entry{"mount_setattr", [] { new_mount_api(SYS_mount_setattr, -1); }},
    Entry{"pivot_root", pivot},
    Entry{"chroot_escape", chroot_escape},
    Entry{"unshare_user", unshare_user},
    Entry{"clone_newuser", clone_newuser},
    Entry{"clone3_newuser", clone3_newuser},
    Entry{"setns", [] { broken_if_looked_at(setns(-1, 0)); }},
    Entry{"mknod_device", mknod_device},
    Entry{"device_in_repo", device_in_repo},
    Entry{"open_by_handle", open_by_handle},
});

}  // namespace

std::span<const Entry> mount_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
