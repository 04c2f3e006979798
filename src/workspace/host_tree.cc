#include "workspace/host_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "os/file.h"
#include "os/openat2.h"

namespace sallyport::workspace {
namespace {

std::string temporary_name() {
  std::uint64_t random = 0;
  while (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) {
  }
  return fmt::format(".sallyport-commit-{:016x}", random);
}

Status copy_content(int from, int to, const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  struct stat info{};
  if (::fstat(from, &info) != 0) return fail(system_error("stat", path, errno));
  TRY(check_file_limit(static_cast<std::uint64_t>(info.st_size), path));
  off_t at = 0;
  for (;;) {
    const ssize_t sent = ::sendfile(to, from, &at, kPiece);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(system_error("write", path, errno));
    if (sent == 0) return {};
  }
}

// A new file without a name, so that nothing remains if we are killed; with a name if the file system does not support
// O_TMPFILE.
struct Unfinished {
  UniqueFd fd{};
  std::string name{};  // empty: it has none
};

Result<Unfinished> begin_file(int directory, const std::string& path) {
  Unfinished file{.fd = UniqueFd(::openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600))};
  if (file.fd) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR) return fail(system_error("write", path, errno));
  file.name = temporary_name();
  file.fd =
      UniqueFd(::openat(directory, file.name.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600));
  if (!file.fd) return fail(system_error("write", path, errno));
  return file;
}

Status finish_file(int directory, Unfinished& file, const std::string& name, bool must_be_new,
                   const std::string& path) {
  const std::string by_descriptor = fmt::format("/proc/self/fd/{}", file.fd.get());
  if (file.name.empty() && must_be_new) {
    if (::linkat(AT_FDCWD, by_descriptor.c_str(), directory, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
    return fail(system_error("write", path, errno));
  }
  if (file.name.empty()) {
    const std::string temporary = temporary_name();
    if (::linkat(AT_FDCWD, by_descriptor.c_str(), directory, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return fail(system_error("write", path, errno));
    }
    file.name = temporary;
  }
  const unsigned flags = must_be_new ? RENAME_NOREPLACE : 0U;
  if (::renameat2(directory, file.name.c_str(), directory, name.c_str(), flags) == 0) return {};
  const int error_number = errno;
  ::unlinkat(directory, file.name.c_str(), 0);
  return fail(system_error("write", path, error_number));
}

}  // namespace

Result<HostTree::Place> HostTree::place(const std::string& path, bool make_parents) const {
  const std::size_t slash = path.rfind('/');
  Place place{.name = path.substr(slash == std::string::npos ? 0 : slash + 1)};
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
  if (place.name.empty() || place.name == "." || place.name == "..") return fail(system_error("open", path, EINVAL));
  int fd = openat2_beneath(root_, parent.c_str(), O_PATH | O_DIRECTORY);
  if (fd == -ENOENT && make_parents) {
    TRY(put_directory(parent, 0755));
    fd = openat2_beneath(root_, parent.c_str(), O_PATH | O_DIRECTORY);
  }
  if (fd < 0) return fail(system_error("open", parent, -fd));
  place.parent = UniqueFd(fd);
  return place;
}

Result<std::optional<struct stat>> HostTree::look(const std::string& path) const {
  const Result<Place> where = place(path, false);
  if (!where) {
    const auto* const why = where.error().as<SystemError>();
    if (why != nullptr && why->error_number == ENOENT) return std::optional<struct stat>();
    return fail(where.error());
  }
  struct stat info{};
  if (::fstatat(where->parent.get(), where->name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) return std::optional(info);
  if (errno == ENOENT) return std::optional<struct stat>();
  return fail(system_error("stat", path, errno));
}

Status HostTree::put_file(const std::string& path, int content, mode_t mode, bool must_be_new) const {
  const Place where = TRY(place(path, true));
  Unfinished file = TRY(begin_file(where.parent.get(), path));
  Status written = copy_content(content, file.fd.get(), path);
  if (written && owner_ && ::fchown(file.fd.get(), owner_->uid, owner_->gid) != 0) {
    written = fail(system_error("give away", path, errno));
  }
  // Sync before it gets its name, so that a reader finds all of it, even after a power cut.
  if (written && (::fchmod(file.fd.get(), mode & 0777U) != 0 || ::fsync(file.fd.get()) != 0)) {
    written = fail(system_error("write", path, errno));
  }
  if (!written) {
    if (!file.name.empty()) ::unlinkat(where.parent.get(), file.name.c_str(), 0);
    return written;
  }
  return finish_file(where.parent.get(), file, where.name, must_be_new, path);
}

Status HostTree::put_symlink(const std::string& path, const std::string& text, bool must_be_new) const {
  const Place where = TRY(place(path, true));
  const std::string temporary = temporary_name();
  if (::symlinkat(text.c_str(), where.parent.get(), temporary.c_str()) != 0) {
    return fail(system_error("write", path, errno));
  }
  const bool given =
      !owner_ || ::fchownat(where.parent.get(), temporary.c_str(), owner_->uid, owner_->gid, AT_SYMLINK_NOFOLLOW) == 0;
  const unsigned flags = must_be_new ? RENAME_NOREPLACE : 0U;
  if (given && ::renameat2(where.parent.get(), temporary.c_str(), where.parent.get(), where.name.c_str(), flags) == 0) {
    return {};
  }
  const int error_number = errno;
  ::unlinkat(where.parent.get(), temporary.c_str(), 0);
  return fail(system_error("write", path, error_number));
}

Status HostTree::put_directory(const std::string& path, mode_t mode) const {
  const Place where = TRY(place(path, true));
  if (::mkdirat(where.parent.get(), where.name.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(system_error("make", path, errno));
  }
  const int fd = openat2_beneath(where.parent.get(), where.name.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd < 0) return fail(system_error("make", path, -fd));
  const UniqueFd opened(fd);
  if (owner_ && ::fchown(fd, owner_->uid, owner_->gid) != 0) return fail(system_error("give away", path, errno));
  if (::fchmod(fd, mode & 0777U) != 0) return fail(system_error("set the mode of", path, errno));
  return {};
}

Status HostTree::remove(const std::string& path) const {
  const Place where = TRY(place(path, false));
  if (::unlinkat(where.parent.get(), where.name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno == EISDIR && ::unlinkat(where.parent.get(), where.name.c_str(), AT_REMOVEDIR) == 0) return {};
  return fail(system_error("delete", path, errno));
}

}  // namespace sallyport::workspace
