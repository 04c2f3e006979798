#include "audit/scan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <expected>

#include "audit/line_reader.h"
#include "core/bytes/sha256.h"
#include "core/errors.h"
#include "os/file.h"

namespace sallyport::audit {
namespace {

// Reads the whole records of one file after `end`, and advances `end`.
Result<std::uint64_t> scan_file(const LogDirectory& directory, Position& end) {
  const UniqueFd fd = TRY(directory.open_file(segment_name(end.segment), O_RDONLY));
  LineReader lines(fd.get(), end.offset);
  for (;;) {
    const LogLine line = TRY(lines.next());
    if (line.kind != LogLine::Kind::kLine) break;
    const std::expected<RecordLine, std::string_view> record = open_record(line.text);
    if (!record || record->seq != end.seq + 1 || record->prev != end.hash) break;
    end.offset = line.offset + line.text.size() + 1;
    end.seq = record->seq;
    end.hash = record->hash;
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(directory.failed(errno, {}));
  return static_cast<std::uint64_t>(info.st_size) - std::min<std::uint64_t>(info.st_size, end.offset);
}

}  // namespace

Result<ScanEnd> scan_from(const LogDirectory& directory, Position start) {
  const std::vector<std::uint64_t> segments = TRY(directory.segments());
  ScanEnd end{.last = std::move(start)};
  for (;;) {
    end.torn_bytes = TRY(scan_file(directory, end.last));
    const bool has_next =
        std::ranges::find(segments, end.last.seq + 1) != segments.end() && end.last.segment != end.last.seq + 1;
    const bool is_last = segments.empty() || segments.back() == end.last.segment;
    if (is_last) return end;
    // A writer starts the next file only after it has synced the whole previous one.
    if (end.torn_bytes != 0 || !has_next) {
      return fail(directory.failed(EILSEQ, fmt::format("record {} is damaged, and later files exist", end.last.seq + 1),
                                   "a check of the whole log says where; move the directory away to begin a new log"));
    }
    end.last.segment = end.last.seq + 1;
    end.last.offset = 0;
  }
}

Result<TornTail> set_aside(const LogDirectory& directory, int segment, const ScanEnd& end) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  TornTail torn{.file = fmt::format("torn-{:016}-{}", end.last.seq + 1,
                                    std::chrono::duration_cast<std::chrono::nanoseconds>(now).count())};
  const UniqueFd copy = TRY(directory.open_file(torn.file, O_WRONLY | O_CREAT | O_EXCL));
  Sha256 hasher;
  std::string buffer(kLongestRecord, '\0');
  for (std::uint64_t at = end.last.offset;;) {
    const ssize_t got = ::pread(segment, buffer.data(), buffer.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(directory.failed(errno, {}));
    if (got == 0) break;
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
    TRY(write_all(copy.get(), piece, torn.file));
    hasher.update(piece);
    torn.bytes += piece.size();
    at += piece.size();
  }
  torn.sha256 = std::move(hasher).hex();
  if (::fsync(copy.get()) != 0) return fail(directory.failed(errno, {}));
  TRY(directory.sync());
  if (::ftruncate(segment, static_cast<off_t>(end.last.offset)) != 0 || ::fdatasync(segment) != 0) {
    return fail(directory.failed(errno, {}));
  }
  return torn;
}

}  // namespace sallyport::audit
