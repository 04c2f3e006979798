#include "os/place.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "core/errors.h"
#include "os/file.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kSmallFile{16 * 1024};
constexpr ByteCount kMountTable{4 * 1024 * 1024};
// Directories that the kernel makes as mount points: a mount there hides nothing.
constexpr auto kMountPointsOfProc =
    std::to_array<std::string_view>({"/proc/sys/fs/binfmt_misc", "/proc/fs/nfsd", "/proc/xen", "/proc/openprom"});

std::string content_of(const fs::path& path) { return read_whole_file(path, kSmallFile).value_or(std::string()); }

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// True when the host name and the scratch directory are those of our jails, and a seccomp filter is active.
bool is_own_jail(const fs::path& root) {
  return content_of(root / "proc/sys/kernel/hostname") == "sallyport\n" && is_there(root / "tmp/probe") &&
         content_of(root / "proc/self/status").find("\nSeccomp:\t2") != std::string::npos;
}

// gVisor always reports one fixed version of Linux (pkg/sentry/syscalls/linux/linux64.go).
bool is_gvisor(const fs::path& root) {
  const std::string version = content_of(root / "proc/version");
  return version.find("gVisor") != std::string::npos || version.starts_with("Linux version 4.4.0 (") ||
         version.find("#1 SMP Sun Jan 10 15:06:54 PST 2016") != std::string::npos;
}

bool is_container(const fs::path& root) {
  return is_there(root / "run/systemd/container") || is_there(root / "run/secrets/kubernetes.io") ||
         is_there(root / "var/run/secrets/kubernetes.io");
}

// A namespace's own root is the root of a mount; a chroot directory mostly is not (Linux 5.8).
bool is_no_mount(const fs::path& root) {
  struct statx about{};
  if (root != "/" || ::statx(AT_FDCWD, "/", 0, STATX_TYPE, &about) != 0) return false;
  return (about.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0 &&
         (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0;
}

// Only a process that may inspect process 1 can compare.
bool is_chroot(const fs::path& root) {
  if (is_no_mount(root)) return true;
  struct stat ours{};
  struct stat inits{};
  return ::stat(root.c_str(), &ours) == 0 && ::stat((root / "proc/1/root/.").c_str(), &inits) == 0 &&
         (ours.st_dev != inits.st_dev || ours.st_ino != inits.st_ino);
}

}  // namespace

std::string_view advice_for(Place place) {
  switch (place) {
    case Place::kNoProc:
      return "/proc is not mounted here: mount -t proc proc /proc";
    case Place::kOwnJail:
      return "this is already a jail of sallyport, and no jail can be made in it: let the outer call start the tool";
    case Place::kGvisor:
      return "gVisor's kernel cannot build this jail, and is itself a jail around its container: use `jail` none there";
    case Place::kDocker:
      return "start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
             "--security-opt systempaths=unconfined; everything in it may then make namespaces, so run nothing else in "
             "it";
    case Place::kPodman:
      return "start the container with --security-opt seccomp=unconfined --security-opt unmask=ALL; everything in it "
             "may then make namespaces, so run nothing else in it";
    case Place::kContainer:
      return "let the container make user namespaces and mount /proc (Kubernetes: seccompProfile Unconfined, procMount "
             "Unmasked); everything in it may then make namespaces, so run nothing else in it";
    case Place::kChroot:
      return "the kernel makes no user namespace in a chroot: use a container, or systemd-nspawn -D DIR";
    case Place::kHost:
      break;
  }
  return {};
}

bool has_masked_proc(std::string_view mountinfo) {
  while (!mountinfo.empty()) {
    const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(line.size() + 1, mountinfo.size()));
    // "36 35 98:0 /mnt1 /proc/kcore …": the fifth field is the mount point (proc(5)).
    std::string_view rest = line;
    for (int field = 0; field < 4; ++field) rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
    const std::string_view point = rest.substr(0, rest.find(' '));
    const bool on_empty = std::ranges::any_of(kMountPointsOfProc, [&](std::string_view one) { return point == one; });
    if (point.starts_with("/proc/") && !on_empty) return true;
  }
  return false;
}

bool shows_own_processes(const fs::path& proc) {
  std::error_code error;
  return fs::read_symlink(proc / "self", error) == std::to_string(::getpid()) && is_there(proc / "self/stat");
}

Status check_own_processes_shown(JailKind jail) {
  if (shows_own_processes("/proc")) return {};
  return fail(jail_unavailable(jail, "what a tool starts could not be found and ended: /proc does not show us",
                               advice_for(Place::kNoProc)));
}

JailObstacle find_jail_obstacle() {
  // unshare(2) does not accept CLONE_IO: without a filter the answer is EINVAL.
  const int wanted = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | static_cast<int>(CLONE_IO);
  if (::unshare(wanted) != 0 && errno != EINVAL) return JailObstacle::kFilter;
  return has_masked_proc(read_whole_file("/proc/self/mountinfo", kMountTable).value_or(std::string()))
             ? JailObstacle::kMaskedProc
             : JailObstacle::kNone;
}

Place recognise_place(const fs::path& root) {
  if (!is_there(root / "proc/self/status")) return Place::kNoProc;
  if (is_own_jail(root)) return Place::kOwnJail;
  if (is_gvisor(root)) return Place::kGvisor;
  if (is_there(root / ".dockerenv")) return Place::kDocker;
  if (is_there(root / "run/.containerenv")) return Place::kPodman;
  if (is_container(root)) return Place::kContainer;
  return is_chroot(root) ? Place::kChroot : Place::kHost;
}

}  // namespace sallyport
