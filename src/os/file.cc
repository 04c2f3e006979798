#include "os/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "core/errors.h"

namespace sallyport {
namespace {

constexpr std::size_t kFirstRead = 4096;  // /proc and /sys files report size 0 and mostly fit in one page

std::string_view open_hint(int error_number) {
  switch (error_number) {
    case EMFILE:
    case ENFILE:
      return "too many files are open; raise the limit with 'ulimit -n' or run less at once";
    case ENOSPC:
    case EDQUOT:
      return "free some space on this file system";
    case EFBIG:
      return "files may not grow that large here; raise the limit with 'ulimit -f'";
    default:
      return {};
  }
}

Status sync_directory(int directory, std::string_view subject) {
  // Some file systems cannot sync directories (EINVAL); then a rename is as durable as it can be.
  if (::fsync(directory) != 0 && errno != EINVAL) return fail(system_error("sync the directory of", subject, errno));
  return {};
}

// A name that nobody can predict: otherwise a user who may write to the directory could block us by creating it.
Result<std::string> fresh_name() {
  std::array<unsigned char, 8> random{};
  if (::getrandom(random.data(), random.size(), 0) != std::ssize(random))
    return fail(system_error("get", "random", errno));
  return fmt::format(".sallyport-new-{:02x}", fmt::join(random, ""));
}

}  // namespace

Result<UniqueFd> open_path_at(int directory, const std::string& name, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::openat(directory, name.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return fail(system_error("open", name, errno, open_hint(errno)));
  return UniqueFd(fd);
}

Result<UniqueFd> open_path(const std::filesystem::path& path, int flags, mode_t mode) {
  return open_path_at(AT_FDCWD, path.native(), flags, mode);
}

Result<std::string> read_all(int fd, ByteCount cap, std::string_view subject) {
  const std::uint64_t limit = count(cap);
  std::string content;
  std::size_t used = 0;
  struct stat info{};
  std::size_t step = kFirstRead;
  const bool sized = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
  if (sized) step = static_cast<std::size_t>(info.st_size) + 1;
  for (;;) {
    // Asks for one byte more than allowed, to distinguish "exactly the cap" from "more": fstat's size means nothing for
    // a file that grows during the read.
    if (used == content.size()) {
      const std::uint64_t room = limit >= used ? limit - used + 1 : 0;
      content.resize(used + static_cast<std::size_t>(std::min<std::uint64_t>(step, room)));
    }
    const ssize_t got = ::read(fd, content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_error("read", subject, errno));
    used += static_cast<std::size_t>(got);
    if (used > limit) {
      return fail(invalid_request(subject, "is larger than the " + std::to_string(limit) + " bytes allowed for it",
                                  "raise the cap, or make the file smaller"));
    }
    // We read the size that fstat reported, and the kernel returned no more.
    const bool whole = sized && used == static_cast<std::size_t>(info.st_size) && used < content.size();
    if (got == 0 || whole) break;
    step = std::max(kFirstRead, used);
  }
  content.resize(used);
  return content;
}

Result<std::string> read_whole_file(const std::filesystem::path& path, ByteCount cap) {
  // O_NONBLOCK: opening a FIFO would wait for its writer, before any deadline counts.
  UniqueFd fd = TRY(open_path(path, O_RDONLY | O_NOCTTY | O_NONBLOCK));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(system_error("stat", path.native(), errno));
  if (!S_ISREG(info.st_mode)) {
    return fail(
        system_error("read", path.native(), S_ISDIR(info.st_mode) ? EISDIR : EINVAL, "it is not a regular file"));
  }
  return read_all(fd.get(), cap, path.native());
}

Result<std::string> read_named_file(const std::filesystem::path& path, ByteCount cap) {
  UniqueFd fd = TRY(open_path(path, O_RDONLY | O_NOCTTY));
  return read_all(fd.get(), cap, path.native());
}

Status write_all(int fd, std::string_view bytes, std::string_view subject) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(system_error("write", subject, errno, open_hint(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

int past_file_limit(std::uint64_t end) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return errno;
  return limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur ? EFBIG : 0;
}

Status check_file_limit(std::uint64_t end, std::string_view subject) {
  const int problem = past_file_limit(end);
  if (problem == 0) return {};
  return fail(system_error("write", subject, problem, open_hint(problem)));
}

Status replace_file_at(int directory, const std::string& name, std::string_view bytes, FileMode mode) {
  TRY(check_file_limit(bytes.size(), name));
  // Not O_TMPFILE: linkat cannot replace an existing name, so we need a rename anyway.
  const std::string temporary = TRY(fresh_name());
  const UniqueFd fd =
      TRY(open_path_at(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode.masked ? mode.bits : 0600));
  const Status done = [&]() -> Status {
    TRY(write_all(fd.get(), bytes, name));
    if (!mode.masked && ::fchmod(fd.get(), mode.bits) != 0) return fail(system_error("set the mode of", name, errno));
    if (::fsync(fd.get()) != 0) return fail(system_error("sync", name, errno, open_hint(errno)));
    if (::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0) {
      return fail(system_error("replace", name, errno));
    }
    return {};
  }();
  if (!done) {
    ::unlinkat(directory, temporary.c_str(), 0);
    return done;
  }
  return sync_directory(directory, name);
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes, mode_t mode) {
  const UniqueFd directory = TRY(open_path(path.has_parent_path() ? path.parent_path() : ".", O_RDONLY | O_DIRECTORY));
  return replace_file_at(directory.get(), path.filename().native(), bytes, {.bits = mode});
}

}  // namespace sallyport
