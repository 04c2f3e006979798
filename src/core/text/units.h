// Durations and sizes as people read them. core/parse_units.h takes in what they type.
#pragma once

#include <chrono>
#include <string>

#include "sallyport/limits.h"

namespace sallyport {

// "850 us", "12.3 ms", "1.50 s", "2 min 5 s", "2 h 3 min"
[[nodiscard]] std::string format_duration(std::chrono::microseconds duration);
// "999 B", "1.5 KiB", "64 MiB"
[[nodiscard]] std::string format_bytes(ByteCount bytes);

}  // namespace sallyport
