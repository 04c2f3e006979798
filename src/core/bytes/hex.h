#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sallyport {

// Lower-case, two digits a byte.
[[nodiscard]] inline std::string hex_of(std::span<const unsigned char> bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0x0FU];
  }
  return text;
}

}  // namespace sallyport
