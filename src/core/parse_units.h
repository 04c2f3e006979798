// Durations and sizes as people type them. core/text/units.h writes them.
#pragma once

#include <chrono>
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

}  // namespace sallyport
