#include "os/openat2.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "core/errors.h"

namespace sallyport {

namespace {

int openat2_with(int directory, const char* path, int flags, std::uint64_t rules) noexcept {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = rules;
  long fd = -1;
  do {
    // EAGAIN: a rename on the system raced with a ".." in the path; openat2(2) says to try again.
    fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  return fd < 0 ? -errno : static_cast<int>(fd);
}

Result<UniqueFd> opened(int fd, std::string_view subject) {
  if (fd >= 0) return UniqueFd(fd);
  std::string_view hint;
  if (fd == -ELOOP) hint = "a symlink is never followed here; put the file itself there";
  if (fd == -EXDEV) hint = "the path must stay beneath its root and on one file system";
  if (fd == -ENOSYS)
    hint =
        "this process seems to be in a jail already, whose filter refuses openat2; or the kernel is older than Linux "
        "5.6";
  return fail(system_error("open", subject, -fd, hint));
}

}  // namespace

int openat2_beneath(int directory, const char* relative, int flags) noexcept {
  return openat2_with(directory, relative, flags,
                      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
}

int openat2_within(int directory, const char* relative, int flags) noexcept {
  return openat2_with(directory, relative, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

Result<UniqueFd> open_beneath(int directory, const std::string& relative, int flags) {
  return opened(openat2_beneath(directory, relative.c_str(), flags), relative);
}

Result<UniqueFd> open_exactly(const std::filesystem::path& canonical, int flags) {
  return opened(openat2_with(AT_FDCWD, canonical.c_str(), flags, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS),
                canonical.native());
}

}  // namespace sallyport
