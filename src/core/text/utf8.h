// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace sallyport {

struct Utf8Char {
  char32_t code_point = 0;
  std::size_t length = 0;  // bytes used; 0 when the text does not start with a valid sequence
};

// The first code point of a non-empty text.
[[nodiscard]] Utf8Char decode_utf8(std::string_view text);
[[nodiscard]] bool is_valid_utf8(std::string_view text);

}  // namespace sallyport
