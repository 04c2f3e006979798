#include "os/place.h"

#include <sys/stat.h>

#include <string>
#include <system_error>

#include "os/file.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kSmallFile{16 * 1024};

std::string content_of(const fs::path& path) { return read_whole_file(path, kSmallFile).value_or(std::string()); }

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The host name and the scratch directory that our jails have, behind a seccomp filter.
bool is_own_jail(const fs::path& root) {
  return content_of(root / "proc/sys/kernel/hostname") == "sallyport\n" && is_there(root / "tmp/probe") &&
         content_of(root / "proc/self/status").find("\nSeccomp:\t2") != std::string::npos;
}

// gVisor claims one fixed version of Linux, whatever the host's is (pkg/sentry/syscalls/linux/linux64.go).
bool is_gvisor(const fs::path& root) {
  const std::string version = content_of(root / "proc/version");
  return version.find("gVisor") != std::string::npos || version.starts_with("Linux version 4.4.0 (") ||
         version.find("#1 SMP Sun Jan 10 15:06:54 PST 2016") != std::string::npos;
}

bool is_container(const fs::path& root) {
  return is_there(root / "run/systemd/container") || is_there(root / "run/secrets/kubernetes.io") ||
         is_there(root / "var/run/secrets/kubernetes.io");
}

// Only root may compare; for others the answer is no.
bool is_chroot(const fs::path& root) {
  struct stat ours{};
  struct stat inits{};
  return ::stat(root.c_str(), &ours) == 0 && ::stat((root / "proc/1/root/.").c_str(), &inits) == 0 &&
         (ours.st_dev != inits.st_dev || ours.st_ino != inits.st_ino);
}

}  // namespace

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
