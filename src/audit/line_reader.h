// Lines of a file of the log, one at a time, whatever its size: at most one record and a buffer are held.
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
    kPartial,  // the file ends without a newline; `text` is what there is, cut at the longest record
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
  std::size_t begin_ = 0;  // of what was not given out yet
  std::size_t used_ = 0;
  bool at_end_ = false;
};

}  // namespace sallyport::audit
