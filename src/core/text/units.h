// Durations and sizes as people type and read them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "sallyport/limits.h"
#include "sallyport/result.h"

namespace sallyport {

// "500ms", "60s", "1.5s", "2m", "1h": a unit is mandatory, at most three decimals, zero parses. `field` names the
// option in the InvalidRequest.
[[nodiscard]] Result<std::chrono::milliseconds> parse_duration(std::string_view text,
                                                               std::string_view field = "duration");
// "123", "512K", "64M", "0.5G", "1T", also "64MiB", "512MB", "512m": units of 1024 in any case, at most three decimals,
// checked for overflow.
[[nodiscard]] Result<ByteCount> parse_bytes(std::string_view text, std::string_view field = "size");

// "850 us", "12.3 ms", "1.50 s", "2 min 5 s", "2 h 3 min"
[[nodiscard]] std::string format_duration(std::chrono::microseconds duration);
// "999 B", "1.5 KiB", "64 MiB"
[[nodiscard]] std::string format_bytes(ByteCount bytes);

}  // namespace sallyport
