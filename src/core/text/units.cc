#include "core/text/units.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sallyport {

std::string format_duration(std::chrono::microseconds duration) {
  const std::int64_t us = duration.count();
  if (us < 1'000) return fmt::format("{} us", us);
  if (us < 1'000'000) return fmt::format("{:.1f} ms", static_cast<double>(us) / 1e3);
  if (us < 60'000'000) return fmt::format("{:.2f} s", static_cast<double>(us) / 1e6);
  const std::int64_t seconds = us / 1'000'000;
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

std::string format_bytes(ByteCount bytes) {
  static constexpr std::array<std::string_view, 5> kNames = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  const std::uint64_t value = count(bytes);
  if (value < 1024) return fmt::format("{} B", value);
  double scaled = static_cast<double>(value) / 1024;
  std::size_t name = 0;
  while (scaled >= 1024 && name + 1 < kNames.size()) {
    scaled /= 1024;
    ++name;
  }
  const bool is_whole = scaled == static_cast<double>(static_cast<std::uint64_t>(scaled));
  return is_whole ? fmt::format("{:.0f} {}", scaled, kNames[name]) : fmt::format("{:.1f} {}", scaled, kNames[name]);
}

}  // namespace sallyport
