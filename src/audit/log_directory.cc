#include "audit/log_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/errors.h"
#include "core/text/number.h"
#include "os/directory.h"
#include "os/file.h"

namespace sallyport::audit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSegmentPrefix = "audit-";
constexpr std::string_view kSegmentSuffix = ".jsonl";
constexpr std::string_view kElsewhere = "name another directory with `audit`";

Error log_failed(const fs::path& path, int error_number, std::string_view why, std::string_view hint) {
  if (error_number == EMFILE || error_number == ENFILE)
    hint = "too many files are open; raise the limit with 'ulimit -n'";
  if (error_number == EFBIG) hint = "files may not grow that large here; raise the limit with 'ulimit -f'";
  return audit_failed(path.native(), error_number, why.empty() ? errno_text(error_number) : std::string(why),
                      hint.empty() ? kElsewhere : hint);
}

Result<fs::path> path_of_directory(int fd, const fs::path& named) {
  std::error_code error;
  fs::path path = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
  if (!error) return path;
  path = fs::canonical(named, error);
  if (error) return fail(log_failed(named, error.value(), {}, {}));
  return path;
}

// No other user may read the records, or have created the directory.
Status check_ours_alone(const struct stat& info, const fs::path& path) {
  if (info.st_uid != ::geteuid()) {
    return fail(log_failed(path, EACCES, fmt::format("the log is owned by uid {}", info.st_uid), kElsewhere));
  }
  if ((info.st_mode & 077U) != 0) {
    return fail(log_failed(path, EACCES,
                           fmt::format("others may use the directory (mode {:04o})", info.st_mode & 07777U),
                           fmt::format("chmod 700 {}", path.native())));
  }
  return {};
}

std::optional<std::uint64_t> first_record_of(std::string_view name) {
  if (!name.starts_with(kSegmentPrefix) || !name.ends_with(kSegmentSuffix)) return std::nullopt;
  name.remove_prefix(kSegmentPrefix.size());
  name.remove_suffix(kSegmentSuffix.size());
  return whole_number<std::uint64_t>(name);
}

}  // namespace

std::string segment_name(std::uint64_t first_record) {
  return fmt::format("{}{:016}{}", kSegmentPrefix, first_record, kSegmentSuffix);
}

Result<LogDirectory> LogDirectory::open_for_writing(const fs::path& path) {
  const bool made = ::mkdir(path.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return fail(log_failed(path, errno, {}, {}));
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return fail(log_failed(path, errno, errno == ENOTDIR || errno == ELOOP ? "it is no directory" : "", {}));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(log_failed(path, errno, {}, {}));
  TRY(check_ours_alone(info, path));
  if (made) {
    const UniqueFd parent(::openat(fd.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent || ::fsync(parent.get()) != 0) return fail(log_failed(path, errno, {}, {}));
  }
  fs::path canonical = TRY(path_of_directory(fd.get(), path));
  return LogDirectory(std::move(fd), std::move(canonical));
}

Result<LogDirectory> LogDirectory::open_for_reading(const fs::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail(system_error("open the audit log", path.native(), errno, "name the directory of a log"));
  fs::path canonical = TRY(path_of_directory(fd.get(), path));
  return LogDirectory(std::move(fd), std::move(canonical));
}

Result<std::vector<std::uint64_t>> LogDirectory::segments() const {
  std::vector<std::uint64_t> found;
  for (const std::string& name : TRY(list_directory(fd_.get(), path_.native()))) {
    if (const std::optional<std::uint64_t> first = first_record_of(name); first && segment_name(*first) == name) {
      found.push_back(*first);
    }
  }
  std::ranges::sort(found);
  return found;
}

Result<UniqueFd> LogDirectory::open_file(const std::string& name, int flags) const {
  UniqueFd fd(::openat(fd_.get(), name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600));
  const int problem = errno;
  if (!fd) return fail(system_error("open", (path_ / name).native(), problem));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(system_error("stat", (path_ / name).native(), errno));
  if (!S_ISREG(info.st_mode)) return fail(failed(EINVAL, fmt::format("{} is no regular file", name)));
  return fd;
}

Status LogDirectory::sync() const {
  if (::fsync(fd_.get()) != 0) return fail(failed(errno, {}));
  return {};
}

Error LogDirectory::failed(int error_number, std::string_view why, std::string_view hint) const {
  return log_failed(path_, error_number, why, hint);
}

}  // namespace sallyport::audit
