// The directory of an audit log, by descriptor; only we can read and change it.
//
//   audit-0000000000000001.jsonl   records 1 …; the next file is named after its first record
//   head                           where the log ends: head.h
//   lock, sync.lock                who appends, who syncs
//   torn-…                         a record's remains after a crash, set aside
//   checkpoint, tile/, …           the transparency log: transparency.h
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::audit {

class LogDirectory {
 public:
  // Makes a missing directory, but never its parent. AuditFailed when others can access it.
  [[nodiscard]] static Result<LogDirectory> open_for_writing(const std::filesystem::path& path);
  // For readers, with any owner: another user may verify a copy.
  [[nodiscard]] static Result<LogDirectory> open_for_reading(const std::filesystem::path& path);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // canonical
  // The first records of its files, in order.
  [[nodiscard]] Result<std::vector<std::uint64_t>> segments() const;
  // Opens a regular file in it, or gives ENOENT. `flags` as for openat(2).
  [[nodiscard]] Result<UniqueFd> open_file(const std::string& name, int flags) const;
  [[nodiscard]] Status sync() const;
  // AuditFailed about this log.
  [[nodiscard]] Error failed(int error_number, std::string_view why, std::string_view hint = {}) const;

 private:
  LogDirectory(UniqueFd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

  UniqueFd fd_;
  std::filesystem::path path_;
};

[[nodiscard]] std::string segment_name(std::uint64_t first_record);

}  // namespace sallyport::audit
