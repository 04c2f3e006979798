// SHA-256 of program files, remembered by the file's identity so that a second run does not read 90 MB again.
//
// Thread-safe. With a cache directory the memory is kept there too, in one small file that only we can write; a
// missing, corrupt, foreign or oversized file counts as empty, and a failed save is no error: the cache is a
// convenience, and never makes a file trusted that another user could have written.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport {

// A file with the same stamp has the same content, unless it changed too recently for its timestamps to show that.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  auto operator<=>(const FileStamp&) const = default;
};

[[nodiscard]] Result<FileStamp> stamp_of(int fd, std::string_view subject);

// kReadOnly uses the file and adds nothing to it: for explain.
enum class CacheAccess { kReadWrite, kReadOnly };

class HashCache {
 public:
  using Clock = std::function<std::chrono::nanoseconds()>;  // wall clock since the epoch, as file systems use it

  HashCache() : HashCache(std::filesystem::path{}) {}
  // An empty directory: in memory only.
  explicit HashCache(std::filesystem::path directory, CacheAccess access = CacheAccess::kReadWrite);
  HashCache(std::filesystem::path directory, Clock clock, CacheAccess access = CacheAccess::kReadWrite);

  struct Entry {
    FileStamp stamp;
    std::string sha256;
  };
  // Hash and stamp of the open regular file `fd`, which belong together: a file that changes while it is read is
  // read again, and refused when it does not settle. Does not move the descriptor's offset.
  [[nodiscard]] Result<Entry> sha256_of(int fd, std::string_view subject);

  // From now on reads and writes nothing below these: a tool may write there, or it is the analysed repo. Canonical
  // paths.
  void stay_out_of(const std::filesystem::path& repo, std::span<const std::filesystem::path> writable);
  // Call after a run that could write these: removes a cache file that the run may have planted.
  void distrust(std::span<const std::filesystem::path> writable) const;

  // How many times a file's content was really read.
  [[nodiscard]] std::uint64_t files_read() const;

 private:
  [[nodiscard]] bool too_fresh(const FileStamp& stamp) const;
  void load_once();
  void save() const;

  std::filesystem::path directory_;
  Clock clock_;
  CacheAccess access_;
  mutable std::mutex mutex_;
  std::set<std::filesystem::path> exposed_;
  std::map<FileStamp, std::string> known_;
  bool loaded_ = false;
  std::uint64_t files_read_ = 0;
};

}  // namespace sallyport
