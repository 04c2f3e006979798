// Numbers as text, without libc.
#pragma once

#include <cstdint>

namespace sallyport::spawn::helper {

// Writes `value` in decimal, without a terminator. Returns the end of the text.
inline char* append_number(char* out, std::uint32_t value) {
  char digits[10];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  while (count > 0) *out++ = digits[--count];
  return out;
}

// Moves `text` past the number. False when there is no number, or when it does not fit.
inline bool read_number(const char*& text, std::uint32_t& number) {
  std::uint64_t value = 0;
  const char* const first = text;
  for (; *text >= '0' && *text <= '9'; ++text) {
    value = value * 10 + static_cast<std::uint64_t>(*text - '0');
    if (value > UINT32_MAX) return false;
  }
  number = static_cast<std::uint32_t>(value);
  return text != first;
}

}  // namespace sallyport::spawn::helper
