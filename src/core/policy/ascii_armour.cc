#include "core/policy/ascii_armour.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>

#include "core/text/utf8.h"

namespace sallyport {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kDigits = 6;  // of the largest code point, in hexadecimal

std::string unused_marker(std::string_view text) {
  for (unsigned n = 0;; ++n) {
    std::string marker = fmt::format("z{}z", n);
    if (text.find(marker) == std::string_view::npos) return marker;
  }
}

std::string encode_utf8(char32_t c) {
  const auto tail = [c](unsigned shift) { return static_cast<char>(0x80U | (c >> shift & 0x3FU)); };
  if (c < 0x800) return {static_cast<char>(0xC0U | c >> 6U), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0U | c >> 12U), tail(6), tail(0)};
  return {static_cast<char>(0xF0U | c >> 18U), tail(12), tail(6), tail(0)};
}

// The code point written in the first kDigits characters, or 0.
char32_t read_code_point(std::string_view digits) {
  if (digits.size() < kDigits) return 0;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + kDigits, value, 16);
  const bool is_whole = error == std::errc() && end == digits.data() + kDigits;
  return is_whole && value >= 0x80 && is_valid_utf8(encode_utf8(value)) ? value : 0;
}

std::string_view line_of(std::string_view text, unsigned line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

AsciiArmour::AsciiArmour(std::string_view utf8) {
  if (utf8.starts_with(kByteOrderMark)) utf8.remove_prefix(kByteOrderMark.size());
  marker_ = unused_marker(utf8);
  while (!utf8.empty()) {
    const Utf8Char next = decode_utf8(utf8);
    if (next.length > 1) {
      text_ += fmt::format("{}{:06x}", marker_, static_cast<std::uint32_t>(next.code_point));
    } else {
      text_ += utf8.front();
    }
    utf8.remove_prefix(next.length > 1 ? next.length : 1);
  }
}

std::string AsciiArmour::original(std::string_view piece) const {
  std::string result;
  while (!piece.empty()) {
    const char32_t hidden = piece.starts_with(marker_) ? read_code_point(piece.substr(marker_.size())) : 0;
    if (hidden != 0) {
      result += encode_utf8(hidden);
      piece.remove_prefix(marker_.size() + kDigits);
    } else {
      result += piece.front();
      piece.remove_prefix(1);
    }
  }
  return result;
}

unsigned AsciiArmour::original_column(unsigned line, unsigned column) const {
  const std::string_view before = line_of(text_, line).substr(0, column > 0 ? column - 1 : 0);
  unsigned characters = 0;
  for (const char c : original(before)) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80) ++characters;
  }
  // Past the end of the line, where a parser may point, columns are the same in both.
  const auto beyond = static_cast<unsigned>(column > 0 ? column - 1 - before.size() : 0);
  return column == 0 ? 0 : characters + beyond + 1;
}

}  // namespace sallyport
