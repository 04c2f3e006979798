// Splits text into pieces.
#pragma once

#include <string_view>
#include <vector>

namespace sallyport {

// The pieces between separators; "a,,b" has an empty piece, and an empty text gives one empty piece.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

}  // namespace sallyport
