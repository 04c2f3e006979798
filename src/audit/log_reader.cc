#include "audit/log_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <expected>
#include <limits>

#include "core/errors.h"

namespace sallyport::audit {

Result<LogEnd> find_log_end(const LogDirectory& directory) {
  LogEnd end;
  // Read access is enough to lock; a copy of a log may have no lock file.
  const Result<UniqueFd> lock = directory.open_file("lock", O_RDONLY);
  while (lock && ::flock(lock->get(), LOCK_SH) != 0 && errno == EINTR) {
  }
  if (const Result<UniqueFd> head = directory.open_file("head", O_RDONLY)) {
    end.written = read_slot(head->get(), Slot::kWritten);
    end.durable = read_slot(head->get(), Slot::kDurable);
  }
  end.segments = TRY(directory.segments());
  if (end.segments.empty()) return end;
  const UniqueFd last = TRY(directory.open_file(segment_name(end.segments.back()), O_RDONLY));
  struct stat info{};
  if (::fstat(last.get(), &info) != 0) return fail(system_error("stat", "the audit log", errno));
  end.last_size = static_cast<std::uint64_t>(info.st_size);
  return end;
}

Result<LogReader> LogReader::open(const LogDirectory& directory) {
  LogReader reader(directory);
  TRY(reader.refresh());
  if (reader.segments_.empty()) return reader;
  reader.position_.segment = reader.segments_.front();
  reader.position_.seq = reader.segments_.front() - 1;
  static_cast<void>(TRY(reader.next_segment()));
  return reader;
}

Result<LogReader> LogReader::open_behind(const LogDirectory& directory, const Position& position) {
  LogReader reader(directory);
  TRY(reader.refresh());
  reader.position_ = position;
  static_cast<void>(TRY(reader.next_segment()));
  return reader;
}

Status LogReader::refresh() {
  LogEnd end = TRY(find_log_end(*directory_));
  last_end_ = end.last_size;
  segments_ = std::move(end.segments);
  if (lines_ != nullptr) static_cast<void>(TRY(next_segment()));
  return {};
}

// Opens the file of position_, or the next one at its end; false when there is none.
Result<bool> LogReader::next_segment() {
  const auto found = std::ranges::find(segments_, position_.segment);
  if (found == segments_.end()) return false;
  const bool is_last = found + 1 == segments_.end();
  file_ = TRY(directory_->open_file(segment_name(position_.segment), O_RDONLY));
  lines_ = std::make_unique<LineReader>(file_.get(), position_.offset,
                                        is_last ? last_end_ : std::numeric_limits<std::uint64_t>::max());
  return true;
}

Result<std::optional<LogRecord>> LogReader::next() {
  while (lines_ != nullptr) {
    const LogLine line = TRY(lines_->next());
    if (line.kind == LogLine::Kind::kLine) {
      ++line_number_;
      const std::expected<RecordLine, std::string_view> record = parse_record(line.text);
      if (!record) {
        return fail(invalid_request(
            "audit log", fmt::format("{}:{}: {}", segment_name(position_.segment), line_number_, record.error()),
            "a check of the whole log says more"));
      }
      position_.offset = line.offset + line.text.size() + 1;
      position_.seq = record->seq;
      position_.hash = record->hash;
      return LogRecord{.line = *record, .text = line.text, .segment = position_.segment, .line_number = line_number_};
    }
    const auto found = std::ranges::upper_bound(segments_, position_.segment);
    if (found == segments_.end()) return std::nullopt;
    position_.segment = *found;
    position_.offset = 0;
    line_number_ = 0;
    static_cast<void>(TRY(next_segment()));
  }
  return std::nullopt;
}

}  // namespace sallyport::audit
