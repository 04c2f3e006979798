#include "jobs/validate/npm_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "jobs/report/context.h"
#include "jobs/validate/integrity.h"
#include "sallyport/digest.h"

namespace sallyport::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kContent = "_cacache";
constexpr std::string_view kUnfinished = "unfinished";
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

Error failed_to(std::string_view operation, const fs::path& path, int error_number) {
  return {.detail = SystemError{.operation = std::string(operation), .error_number = error_number},
          .message = fmt::format("cannot {} {}: {}", operation, path.native(),
                                 std::error_code(error_number, std::generic_category()).message()),
          .hint = "look whether the disk is full, or name another directory with `ValidateOptions::cache_dir`"};
}

Status make_private_directories(const fs::path& path) {
  if (::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT || !path.has_parent_path() || path.parent_path() == path) {
    return fail(failed_to("make", path, errno));
  }
  TRY(make_private_directories(path.parent_path()));
  if (::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) return {};
  return fail(failed_to("make", path, errno));
}

Status check_ours_alone(const fs::path& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return fail(failed_to("stat", path, errno));
  if (S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() && (found.st_mode & kOthersWrite) == 0) return {};
  return fail(bad_request("cache_dir", fmt::format("{} is not a directory that only you can write", path.native()),
                          "remove it, or name another directory with `ValidateOptions::cache_dir`"));
}

// Removes what a killed process left: no process holds its lock.
void sweep(const fs::path& unfinished) {
  std::error_code error;
  for (fs::directory_iterator entry(unfinished, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const UniqueFd file(::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) static_cast<void>(::unlink(entry->path().c_str()));
  }
}

// Reads all of `from` in pieces; false when a read fails or `take` says so. errno says why.
template <class Take>
bool each_piece(int from, Take take) {
  std::array<char, 128 * 1024> piece{};
  while (true) {
    const ssize_t size = ::read(from, piece.data(), piece.size());
    if (size == 0) return true;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 || !take(std::string_view(piece.data(), static_cast<std::size_t>(size)))) return false;
  }
}

bool write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(to, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool copy_to(int from, const fs::path& path) {
  const UniqueFd to(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  return to && each_piece(from, [&](std::string_view piece) { return write_all(to.get(), piece); });
}

SeededFile identity_of(int fd) {
  struct stat found{};
  if (::fstat(fd, &found) != 0) return {};
  return {.inode = found.st_ino, .size = static_cast<std::uint64_t>(found.st_size)};
}

// Everything below is ours and unchanged: it has no links, and we follow none.
Status give_to(const fs::path& view, const ViewReader& reader) {
  std::vector<fs::path> paths{view};
  std::error_code error;
  for (fs::recursive_directory_iterator entry(view, error); !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    paths.push_back(entry->path());
  }
  if (error) return fail(failed_to("list", view, error.value()));
  for (const fs::path& path : paths) {
    if (::lchown(path.c_str(), reader.uid, reader.gid) != 0) return fail(failed_to("give away", path, errno));
  }
  return {};
}

enum class Took { kAdded, kRejected, kFailed };

// Uses a temporary name until the file is complete and its hash is right. No fsync: after a power cut a damaged file
// may remain; npm detects it by its hash and fetches it again, and promote() then replaces it.
Took take_file(int from, const fs::path& unfinished, const fs::path& final, std::string_view digest) {
  std::string name = (unfinished / "XXXXXX").native();
  const UniqueFd to(::mkostemp(name.data(), O_CLOEXEC));
  if (!to) return Took::kFailed;
  static_cast<void>(::flock(to.get(), LOCK_EX | LOCK_NB));
  Sha512 hasher;
  const bool copied = each_piece(from, [&](std::string_view piece) {
    hasher.update(piece);
    return write_all(to.get(), piece);
  });
  Took took = Took::kFailed;
  if (copied) took = std::move(hasher).hex() == digest ? Took::kAdded : Took::kRejected;
  if (took == Took::kAdded && (!make_private_directories(final.parent_path()) || ::fchmod(to.get(), S_IRUSR) != 0 ||
                               ::rename(name.c_str(), final.c_str()) != 0)) {
    took = Took::kFailed;
  }
  const int problem = errno;
  if (took != Took::kAdded) static_cast<void>(::unlink(name.c_str()));
  errno = problem;
  return took;
}

fs::path content_file(std::string_view digest) { return fs::path(kContent) / content_path(digest); }

}  // namespace

Result<NpmCache> NpmCache::open(const fs::path& directory) {
  TRY(make_private_directories(directory / kUnfinished));
  for (const fs::path& place : {directory, directory / kUnfinished}) TRY(check_ours_alone(place));
  sweep(directory / kUnfinished);
  SandboxedPath root = TRY(SandboxedPath::open_root(directory));
  return NpmCache(directory, std::move(root));
}

Result<SeededFiles> NpmCache::seed(std::span<const std::string> digests, const fs::path& view,
                                   const std::optional<ViewReader>& reader) const {
  SeededFiles seeded;
  for (const std::string& digest : digests) {
    const Result<UniqueFd> from = root_.open_file(content_file(digest));
    if (!from) continue;  // it is not there, or it is no file: then npm fetches it
    const fs::path path = view / content_file(digest);
    TRY(make_private_directories(path.parent_path()));
    const bool linked = !reader && ::link((directory_ / content_file(digest)).c_str(), path.c_str()) == 0;
    if (!linked && !copy_to(from->get(), path)) return fail(failed_to("write", path, errno));
    const UniqueFd there(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    seeded.emplace(digest, identity_of(there.get()));
  }
  if (reader) TRY(give_to(view, *reader));
  return seeded;
}

Promotion NpmCache::promote(std::span<const std::string> digests, const SeededFiles& seeded,
                            const Opener& open_left) const {
  Promotion done;
  for (const std::string& digest : digests) {
    const Result<UniqueFd> from = open_left(content_file(digest));
    if (!from) continue;
    const auto before = seeded.find(digest);
    if (before != seeded.end() && before->second == identity_of(from->get())) continue;
    const fs::path final = directory_ / content_file(digest);
    switch (take_file(from->get(), directory_ / kUnfinished, final, digest)) {
      case Took::kAdded:
        ++done.added;
        break;
      case Took::kRejected:
        done.rejected.push_back(digest);
        break;
      case Took::kFailed:
        done.problem = failed_to("write", final, errno).message;
        break;
    }
  }
  return done;
}

}  // namespace sallyport::jobs
