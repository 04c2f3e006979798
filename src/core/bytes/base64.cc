#include "core/bytes/base64.h"

#include <cstddef>
#include <cstdint>

namespace sallyport {

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = (bits << 8) | (j < group.size() ? static_cast<unsigned char>(group[j]) : 0U);
    }
    text += kBase64Digits[bits >> 18];
    text += kBase64Digits[(bits >> 12) & 0x3FU];
    text += group.size() > 1 ? kBase64Digits[(bits >> 6) & 0x3FU] : '=';
    text += group.size() > 2 ? kBase64Digits[bits & 0x3FU] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  const auto value_of = [](char c) -> int {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    return c == '/' || c == '_' ? 63 : -1;
  };
  const std::size_t whole = text.size();
  while (text.ends_with('=') && whole - text.size() < 2) text.remove_suffix(1);
  if (whole != text.size() && whole % 4 != 0) return std::nullopt;
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const int value = value_of(c);
    if (value < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>((bits >> held) & 0xFFU);
  }
  // The leftover bits must be zero: two texts must not mean the same bytes.
  if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace sallyport
