// Makes a tool's output safe for a person's terminal: a scanned repo decides much of that output, and a terminal obeys
// it (titles that are read back as input, clipboard writes, moved cursors that rewrite earlier lines).
//
// Kept: text, \n \t \r, and of colours (CSI … m) those that leave text readable on any background: red to cyan, bold, italic,
// underline, reset. Removed: all other attributes (concealed, faint, inverse, backgrounds, black, white, palettes), every other
// escape sequence and control character, C1 controls in either encoding. Bytes that are not UTF-8, and characters that reorder
// or hide text (bidi controls and similar), become U+FFFD. Sequences may be split over any number of calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sallyport::cli {

class TerminalFilter {
 public:
  [[nodiscard]] std::string filter(std::string_view bytes);
  // The rest to print at the end: an incomplete character, and a reset when the tool left colours on.
  [[nodiscard]] std::string finish();
  [[nodiscard]] std::uint64_t removed() const { return removed_; }

 private:
  enum class State { kText, kEscape, kEscapeIntermediate, kCsi, kString, kStringEscape };

  void take(char byte, std::string& out);
  void take_text(unsigned char byte, std::string& out);
  void take_escape(unsigned char byte, std::string& out);
  void take_csi(unsigned char byte, std::string& out);
  void flush_partial(std::string& out);

  State state_ = State::kText;
  std::string pending_;  // a UTF-8 sequence or the parameters of a CSI so far; bounded
  bool coloured_ = false;
  std::uint64_t removed_ = 0;
};

}  // namespace sallyport::cli
