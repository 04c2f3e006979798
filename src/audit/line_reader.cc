#include "audit/line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/audit/record_line.h"
#include "core/errors.h"

namespace sallyport::audit {
namespace {

constexpr std::size_t kReadAtOnce = 256 * 1024;

}  // namespace

LineReader::LineReader(int fd, std::uint64_t offset, std::uint64_t end) : fd_(fd), file_offset_(offset), end_(end) {}

Status LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, used_ - begin_);
    used_ -= begin_;
    begin_ = 0;
  }
  const std::size_t want = std::min<std::uint64_t>(kReadAtOnce, end_ - std::min(end_, file_offset_));
  if (buffer_.size() < used_ + want) buffer_.resize(used_ + want);
  ssize_t got = 0;
  do {
    got = want == 0 ? 0 : ::pread(fd_, buffer_.data() + used_, want, static_cast<off_t>(file_offset_));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail(system_error("read", "the audit log", errno));
  at_end_ = got == 0;
  used_ += static_cast<std::size_t>(got);
  file_offset_ += static_cast<std::uint64_t>(got);
  return {};
}

Result<LogLine> LineReader::next() {
  std::size_t searched = 0;
  for (;;) {
    const std::string_view held(buffer_.data() + begin_, used_ - begin_);
    const std::uint64_t offset = file_offset_ - held.size();
    const std::size_t newline = held.find('\n', searched);
    if (newline != std::string_view::npos && newline <= kLongestRecord) {
      begin_ += newline + 1;
      return LogLine{.kind = LogLine::Kind::kLine, .text = held.substr(0, newline), .offset = offset};
    }
    if (held.size() > kLongestRecord) return LogLine{.kind = LogLine::Kind::kTooLong, .text = held, .offset = offset};
    if (at_end_) {
      const LogLine::Kind kind = held.empty() ? LogLine::Kind::kEnd : LogLine::Kind::kPartial;
      return LogLine{.kind = kind, .text = held, .offset = offset};
    }
    searched = held.size();
    TRY(fill());
  }
}

}  // namespace sallyport::audit
