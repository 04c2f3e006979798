// Scans a log from a known position to its end, for a writer after a crash: which records are whole, and what remains
// of a torn one.
#pragma once

#include <cstdint>
#include <string>

#include "audit/head.h"
#include "audit/log_directory.h"
#include "sallyport/result.h"

namespace sallyport::audit {

struct ScanEnd {
  Position last{};               // of the last whole record
  std::uint64_t torn_bytes = 0;  // behind it
};
[[nodiscard]] Result<ScanEnd> scan_from(const LogDirectory& directory, Position start);

struct TornTail {
  std::string file{};
  std::uint64_t bytes = 0;
  std::string sha256{};
};
// Copies what follows `end` to its own file, then cuts it off.
[[nodiscard]] Result<TornTail> set_aside(const LogDirectory& directory, int segment, const ScanEnd& end);

}  // namespace sallyport::audit
