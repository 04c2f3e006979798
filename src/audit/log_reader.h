// Records of a log in order, over all its files, one at a time. It ends where the log ended at open, even while others
// append.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/head.h"
#include "audit/line_reader.h"
#include "audit/log_directory.h"
#include "core/audit/record_line.h"
#include "sallyport/result.h"

namespace sallyport::audit {

struct LogRecord {
  RecordLine line{};
  std::string_view text{};  // the whole line without its newline; valid until the next one is read
  std::uint64_t segment = 0;
  std::uint64_t line_number = 0;
};

// Where a log ends for readers; read under the writers' lock, so that a reader never sees half a line.
struct LogEnd {
  std::optional<HeadSlot> written{};
  std::optional<HeadSlot> durable{};
  std::vector<std::uint64_t> segments{};
  std::uint64_t last_size = 0;  // bytes of the last file
};
[[nodiscard]] Result<LogEnd> find_log_end(const LogDirectory& directory);

class LogReader {
 public:
  [[nodiscard]] static Result<LogReader> open(const LogDirectory& directory);
  [[nodiscard]] static Result<LogReader> open_behind(const LogDirectory& directory, const Position& position);

  // nullopt at the end. InvalidRequest("audit log") with file and line for a line that is no record; does not check
  // hashes.
  [[nodiscard]] Result<std::optional<LogRecord>> next();
  // The position after the last record read.
  [[nodiscard]] const Position& position() const { return position_; }
  // Checks for records appended since; for followers.
  [[nodiscard]] Status refresh();

 private:
  explicit LogReader(const LogDirectory& directory) : directory_(&directory) {}
  [[nodiscard]] Result<bool> next_segment();

  const LogDirectory* directory_;
  std::vector<std::uint64_t> segments_;
  std::uint64_t last_end_ = 0;  // of the last file
  Position position_{};
  UniqueFd file_;
  std::unique_ptr<LineReader> lines_;
  std::uint64_t line_number_ = 0;
};

}  // namespace sallyport::audit
