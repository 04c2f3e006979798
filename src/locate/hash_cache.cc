#include "locate/hash_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <vector>

#include "core/bytes/sha256.h"
#include "core/errors.h"
#include "locate/hash_cache_file.h"
#include "os/file.h"

namespace sallyport {
namespace {

// Timestamps are only as fine as the kernel's tick (4 ms at HZ=250), and on some file systems two seconds. A file that
// is written, hashed and written again within one step keeps its stamp with other content: git's "racy" index entries.
// So we do not cache a file that changed less than this before we hashed it.
constexpr std::chrono::seconds kSettled{2};

std::chrono::nanoseconds wall_clock() { return std::chrono::system_clock::now().time_since_epoch(); }

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

Result<std::string> hash_content(int fd, std::string_view subject) {
  Sha256 hasher;
  std::vector<char> buffer(1 << 18);
  for (off_t offset = 0;;) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_error("read", subject, errno));
    if (got == 0) break;
    hasher.update({buffer.data(), static_cast<std::size_t>(got)});
    offset += got;
  }
  return std::move(hasher).hex();
}

}  // namespace

Result<FileStamp> stamp_of(int fd, std::string_view subject) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return fail(system_error("stat", subject, errno));
  return FileStamp{.device = info.st_dev,
                   .inode = info.st_ino,
                   .size = static_cast<std::uint64_t>(info.st_size),
                   .mtime_ns = nanoseconds(info.st_mtim),
                   .ctime_ns = nanoseconds(info.st_ctim)};
}

HashCache::HashCache(std::filesystem::path directory, CacheAccess access)
    : HashCache(std::move(directory), wall_clock, access) {}
HashCache::HashCache(std::filesystem::path directory, Clock clock, CacheAccess access)
    : directory_(std::move(directory)), clock_(std::move(clock)), access_(access) {}

bool HashCache::too_fresh(const FileStamp& stamp) const {
  const std::chrono::nanoseconds changed(std::max(stamp.mtime_ns, stamp.ctime_ns));
  return changed > clock_() - kSettled;
}

Result<HashCache::Entry> HashCache::sha256_of(int fd, std::string_view subject) {
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const FileStamp before = TRY(stamp_of(fd, subject));
    {
      const std::scoped_lock lock(mutex_);
      load_once();
      if (const auto found = known_.find(before); found != known_.end()) return Entry{before, found->second};
      ++files_read_;
    }
    // Decide with the clock before reading: a change during the read must count as fresh.
    const bool fresh = too_fresh(before);
    std::string sha256 = TRY(hash_content(fd, subject));  // without the lock: two threads may both read, both right
    if (TRY(stamp_of(fd, subject)) != before) continue;
    if (!fresh) {
      const std::scoped_lock lock(mutex_);
      known_.insert_or_assign(before, sha256);
      save();
    }
    return Entry{before, std::move(sha256)};
  }
  return fail(system_error("hash", subject, EAGAIN, "the file keeps changing; wait until its installation is over"));
}

void HashCache::stay_out_of(const std::filesystem::path& repo, std::span<const std::filesystem::path> writable) {
  if (directory_.empty()) return;
  const std::scoped_lock lock(mutex_);
  exposed_.insert(repo);
  exposed_.insert(writable.begin(), writable.end());
}

void HashCache::distrust(std::span<const std::filesystem::path> writable) const {
  if (directory_.empty() || writable.empty()) return;
  remove_exposed_hashes(directory_, {writable.begin(), writable.end()});
}

std::uint64_t HashCache::files_read() const {
  const std::scoped_lock lock(mutex_);
  return files_read_;
}

void HashCache::load_once() {
  if (std::exchange(loaded_, true) || directory_.empty()) return;
  known_ = load_hashes(directory_, exposed_);
}

void HashCache::save() const {
  if (directory_.empty() || access_ == CacheAccess::kReadOnly) return;
  // Other processes write the same file: keep their entries; a lost update costs one re-read.
  std::map<FileStamp, std::string> all = load_hashes(directory_, exposed_);
  all.insert(known_.begin(), known_.end());
  save_hashes(directory_, all, exposed_);
}

}  // namespace sallyport
