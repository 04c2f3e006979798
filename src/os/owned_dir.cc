#include "os/owned_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "core/errors.h"
#include "os/directory.h"
#include "os/posix/still_there.h"

namespace sallyport {
namespace {

constexpr std::size_t kRandomDigits = 16;

std::string_view make_hint(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "the file system is full: free some space, or choose another directory";
    case EROFS:
      return "the file system is read-only: choose another directory";
    case EACCES:
    case EPERM:
      return "this user may not create directories there: choose another directory";
    case ENOENT:
      return "the directory does not exist: create it, or choose another one";
    default:
      return {};
  }
}

// Locks a directory of our user whose owner is gone; nullopt when it belongs to another user or a living owner, or is
// no directory.
std::optional<UniqueFd> lock_if_stale(int parent, const std::string& name) {
  struct stat info{};
  if (::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  // Anyone can make a directory with such a name in /tmp, but not one that belongs to us.
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) return std::nullopt;
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  UniqueFd fd(::openat(parent, name.c_str(), kFlags));
  if (!fd && errno == EACCES && ::fchmodat(parent, name.c_str(), 0700, AT_SYMLINK_NOFOLLOW) == 0) {
    fd = UniqueFd(::openat(parent, name.c_str(), kFlags));  // its tool left it without permissions
  }
  if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  if (!still_there(parent, name, fd.get())) return std::nullopt;
  return fd;
}

}  // namespace

std::string owned_dir_name() {
  std::uint64_t random = 0;
  // So small a read is complete or, if interrupted before the pool is ready, empty (getrandom(2)).
  while (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) {
  }
  return fmt::format("sallyport-{}-{}-{:0{}x}", ::geteuid(), ::getpid(), random, kRandomDigits);
}

bool is_owned_dir_name(std::string_view name, uid_t uid) {
  const std::string prefix = fmt::format("sallyport-{}-", uid);
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  const std::size_t pid_digits = name.find_first_not_of("0123456789");
  if (pid_digits == 0 || pid_digits == std::string_view::npos || name[pid_digits] != '-') return false;
  name.remove_prefix(pid_digits + 1);
  return name.size() == kRandomDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<OwnedDir> make_owned_dir(int parent, mode_t mode, std::string_view subject) {
  constexpr int kAttempts = 16;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = owned_dir_name();
    if (::mkdirat(parent, name.c_str(), mode) != 0) {
      if (errno == EEXIST) continue;
      return fail(system_error("create a directory in", subject, errno, make_hint(errno)));
    }
    UniqueFd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) {
      if (errno == ENOENT) continue;  // swept already
      const int error_number = errno;
      ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
      return fail(system_error("open the new directory in", subject, error_number));
    }
    const bool locked = ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK) {
      const int error_number = errno;
      ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
      return fail(system_error("lock a new directory in", subject, error_number, "its file system must support flock"));
    }
    if (locked && still_there(parent, name, fd.get())) {
      return OwnedDir{.lock = std::move(fd), .name = std::move(name)};
    }
  }
  return fail(system_error("lock a new directory in", subject, EAGAIN, "another process removes each at once"));
}

Result<std::size_t> sweep_owned_dirs(int parent, std::string_view subject, const RemoveDir& remove) {
  std::size_t removed = 0;
  std::optional<Error> problem;
  const auto names = TRY(list_directory(parent, subject));
  for (const std::string& name : names) {
    if (!is_owned_dir_name(name, ::geteuid())) continue;
    const std::optional<UniqueFd> stale = lock_if_stale(parent, name);
    if (!stale) continue;
    if (Status done = remove(parent, stale->get(), name); done) {
      ++removed;
    } else if (!problem) {
      problem = std::move(done).error();
    }
  }
  if (problem) return fail(*std::move(problem));
  return removed;
}

}  // namespace sallyport
