#include "core/text/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "core/text/utf8.h"

namespace sallyport {
namespace {

struct CodePointRange {
  char32_t first;
  char32_t last;
};

// Code points that can hide, reorder or break up the text around them, and so make a line misleading (CVE-2021-42574
// for the bidi controls).
constexpr auto kUnseen = std::to_array<CodePointRange>({
    CodePointRange{0x00AD, 0x00AD},    // soft hyphen
    CodePointRange{0x034F, 0x034F},    // combining grapheme joiner
    CodePointRange{0x061C, 0x061C},    // arabic letter mark
    CodePointRange{0x115F, 0x1160},    // hangul fillers
    CodePointRange{0x17B4, 0x17B5},    // khmer inherent vowels
    CodePointRange{0x180B, 0x180F},    // mongolian selectors and vowel separator
    CodePointRange{0x200B, 0x200F},    // zero-width characters, direction marks
    CodePointRange{0x2028, 0x202E},    // line and paragraph separators, embeddings, overrides
    CodePointRange{0x2060, 0x206F},    // word joiner, isolates, deprecated format characters
    CodePointRange{0x3164, 0x3164},    // hangul filler
    CodePointRange{0xFE00, 0xFE0F},    // variation selectors
    CodePointRange{0xFEFF, 0xFEFF},    // byte order mark
    CodePointRange{0xFFF9, 0xFFFB},    // interlinear annotation
    CodePointRange{0xE0000, 0xE0FFF},  // tags and more variation selectors
});

bool is_unseen(char32_t code_point) {
  for (const CodePointRange& range : kUnseen) {
    if (code_point >= range.first && code_point <= range.last) return true;
  }
  return false;
}

std::size_t plain_prefix(std::string_view text) {
  const auto end = std::ranges::find_if(text, [](char c) { return c < 0x20 || c > 0x7E; });
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

bool hides_text(char32_t code_point) {
  const bool needed = (code_point >= 0x200C && code_point <= 0x200D) || (code_point >= 0xFE00 && code_point <= 0xFE0F);
  return !needed && is_unseen(code_point);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    // Most text is plain, and reports print much of it: copy it in runs.
    if (const std::size_t plain = plain_prefix(text); plain > 0) {
      out.append(text.substr(0, plain));
      text.remove_prefix(plain);
      continue;
    }
    const Utf8Char next = decode_utf8(text);
    const std::size_t length = next.length == 0 ? 1 : next.length;
    const bool is_c0 = next.code_point < 0x20 || next.code_point == 0x7F;
    const bool is_c1 = next.code_point >= 0x80 && next.code_point < 0xA0;
    if (next.length == 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (text.front() == '\n') {
      out += "\\n";
    } else if (text.front() == '\t') {
      out += "\\t";
    } else if (text.front() == '\r') {
      out += "\\r";
    } else if (is_c0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned>(next.code_point));
    } else if (is_c1 || is_unseen(next.code_point)) {
      fmt::format_to(std::back_inserter(out), "\\u{{{:04x}}}", static_cast<unsigned>(next.code_point));
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace sallyport
