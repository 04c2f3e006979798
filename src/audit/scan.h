// From a known position to the end of a log, as a writer needs it after a crash: which records are whole, and what is left of one
// that is not.
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
// Copies what lies behind `end` to a file of its own, then cuts it off.
[[nodiscard]] Result<TornTail> set_aside(const LogDirectory& directory, int segment, const ScanEnd& end);

}  // namespace sallyport::audit
