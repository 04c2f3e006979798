// Reads lines of a log file one at a time; holds at most one record and a buffer, whatever the file's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::audit {

struct LogLine {
  enum class Kind {
    kLine,
    kEnd,
    kPartial,  // the file ends without a newline; `text` is the rest, cut at the length of the longest record
    kTooLong,
  } kind = Kind::kEnd;
  std::string_view text{};   // without its newline; valid until the next call
  std::uint64_t offset = 0;  // where it begins
};

class LineReader {
 public:
  // `fd` is borrowed. Reads from `offset` up to `end`.
  LineReader(int fd, std::uint64_t offset, std::uint64_t end = std::numeric_limits<std::uint64_t>::max());
  [[nodiscard]] Result<LogLine> next();

 private:
  [[nodiscard]] Status fill();

  int fd_;
  std::uint64_t file_offset_;  // of what is read next
  std::uint64_t end_;
  std::string buffer_;
  std::size_t begin_ = 0;  // start of the bytes not yet returned
  std::size_t used_ = 0;
  bool at_end_ = false;
};

}  // namespace sallyport::audit
