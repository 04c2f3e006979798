#include "sallyport/sandboxed_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/errors.h"
#include "os/file.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

std::string_view type_name(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "not a regular file";
  }
}

}  // namespace

Result<SandboxedPath> SandboxedPath::open_root(const std::filesystem::path& root) {
  return SandboxedPath(TRY(open_path(root, O_PATH | O_DIRECTORY)));
}

Result<UniqueFd> SandboxedPath::open_file(const std::filesystem::path& relative) const {
  const std::string& name = relative.native();
  if (name.empty()) return fail(invalid_request("path", "is empty", "name a file beneath the root"));
  if (name.find('\0') != std::string::npos) {
    return fail(invalid_request("path", "contains a NUL byte", "name a file beneath the root"));
  }
  // O_PATH first: it touches neither the driver behind a device node nor the other end of a FIFO.
  UniqueFd found = TRY(open_beneath(root_.get(), name, O_PATH));
  struct stat seen{};
  if (::fstat(found.get(), &seen) != 0) return fail(system_error("stat", name, errno));
  if (!S_ISREG(seen.st_mode)) {
    return fail(invalid_request(name, std::string("is ") + std::string(type_name(seen.st_mode)),
                                "only regular files are read back"));
  }
  // Between the two opens another file may have taken the name. O_NONBLOCK keeps a FIFO from blocking us, and the
  // opened file must be the very file that was checked.
  UniqueFd fd = TRY(open_beneath(root_.get(), name, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat opened{};
  if (::fstat(fd.get(), &opened) != 0) return fail(system_error("stat", name, errno));
  if (opened.st_dev != seen.st_dev || opened.st_ino != seen.st_ino || !S_ISREG(opened.st_mode)) {
    return fail(system_error("open", name, EAGAIN, "the file was replaced while it was being opened"));
  }
  return fd;
}

Result<std::string> SandboxedPath::read_file(const std::filesystem::path& relative, ByteCount cap) const {
  UniqueFd fd = TRY(open_file(relative));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(system_error("stat", relative.native(), errno));
  // A sparse file can claim any size: refuse by size before we read or allocate a byte.
  if (static_cast<std::uint64_t>(info.st_size) > count(cap)) {
    return fail(invalid_request(relative.native(),
                                "has " + std::to_string(info.st_size) + " bytes, more than the " +
                                    std::to_string(count(cap)) + " allowed for it",
                                "raise the cap, or make the file smaller"));
  }
  return read_all(fd.get(), cap, relative.native());
}

}  // namespace sallyport
