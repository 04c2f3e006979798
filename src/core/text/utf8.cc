#include "core/text/utf8.h"

#include <cstdint>
#include <cstring>

namespace sallyport {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

}  // namespace

Utf8Char decode_utf8(std::string_view text) {
  if (text.empty()) return {};
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return {.code_point = first, .length = 1};

  std::size_t length = 0;
  char32_t smallest = 0;  // a smaller value has too long an encoding
  char32_t code_point = 0;
  if ((first & 0xE0U) == 0xC0) {
    length = 2, smallest = 0x80, code_point = first & 0x1FU;
  } else if ((first & 0xF0U) == 0xE0) {
    length = 3, smallest = 0x800, code_point = first & 0x0FU;
  } else if ((first & 0xF8U) == 0xF0) {
    length = 4, smallest = 0x10000, code_point = first & 0x07U;
  } else {
    return {};
  }
  if (text.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned next = byte_at(text, i);
    if ((next & 0xC0U) != 0x80) return {};
    code_point = (code_point << 6) | (next & 0x3FU);
  }
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < smallest || code_point > 0x10FFFF || is_surrogate) return {};
  return {.code_point = code_point, .length = length};
}

bool is_valid_utf8(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;
  while (!text.empty()) {
    // Output is mostly ASCII: check eight bytes at a time while they are.
    std::uint64_t word = 0;
    while (text.size() >= sizeof word) {
      std::memcpy(&word, text.data(), sizeof word);
      if ((word & kHighBits) != 0) break;
      text.remove_prefix(sizeof word);
    }
    if (text.empty()) return true;
    const std::size_t length = decode_utf8(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace sallyport
