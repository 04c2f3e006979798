#include "cli/terminal_filter.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "core/text/utf8.h"

namespace sallyport::cli {
namespace {

std::string through(std::string_view bytes) {
  TerminalFilter filter;
  std::string out = filter.filter(bytes);
  return out + filter.finish();
}

TEST(TerminalFilter, KeepsTextLinesAndColours) {
  for (const std::string_view text :
       {"plain\n\ttab\r\n", "h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "\x1b[1;31mred\x1b[0m",
        "\x1b[4mline\x1b[24m\x1b[92mgreen\x1b[39m\x1b[0m", "\u05d0\u05d1 \u0645\u200c\u0646 \u2764\ufe0f"}) {
    EXPECT_EQ(through(text), text);
  }
}

TEST(TerminalFilter, RemovesWhatATerminalWouldObey) {
  EXPECT_EQ(through("a\x1b]0;title\x07z"), "az");          // window title
  EXPECT_EQ(through("a\x1b]52;c;cm0gLXJm\x1b\\z"), "az");  // clipboard
  EXPECT_EQ(through("a\x1b[2J\x1b[H\x1b[1Az"), "az");      // clear, home, up
  EXPECT_EQ(through("a\x1b[6n\x1b[c\x1b[>cz"), "az");      // questions the terminal types an answer to
  EXPECT_EQ(through("a\x1bP$q\"p\x1b\\z"), "az");          // DCS
  EXPECT_EQ(through("a\x1b(0z"), "az");                    // character set
  EXPECT_EQ(through("a\x1b[?1049hz"), "az");               // alternate screen
  EXPECT_EQ(through("a\x1b[?1mz"), "az");                  // private, only looks like a colour
  EXPECT_EQ(through("a\x1b[1 mz"), "az");
  EXPECT_EQ(through("a\x07\x08\x0e\x7fz"), "az");
  EXPECT_EQ(through("a\xC2\x9B"
                    "2Jz"),
            "a2Jz");  // C1 CSI in UTF-8: its parameters are harmless text then
  EXPECT_EQ(through("a\x9B"
                    "2Jz"),
            "a\xEF\xBF\xBD"
            "2Jz");  // raw C1
}

TEST(TerminalFilter, AttributesThatCouldHideTextAreRemovedAndTheOthersStay) {
  EXPECT_EQ(through("a\x1b[8mz"), "az");  // concealed
  EXPECT_EQ(through("a\x1b[08mz"), "az");
  EXPECT_EQ(through("a\x1b[1;8;31mz\x1b[m"), "a\x1b[1;31mz\x1b[0m");
  EXPECT_EQ(through("a\x1b[30;40mz\x1b[0m"), "a\x1b[39mz\x1b[0m");  // black on black
  EXPECT_EQ(through("a\x1b[41;31mz\x1b[0m"), "a\x1b[31mz\x1b[0m");  // red on red
  EXPECT_EQ(through("a\x1b[7mz\x1b[2mz"), "azz");                   // inverse, faint
  EXPECT_EQ(through("a\x1b[38;5;8;48;2;1;2;3mz"), "az");            // their numbers are no attributes
  EXPECT_EQ(through("a\x1b[38;2;8;8;8;8mz"), "az");
  EXPECT_EQ(through("a\x1b[38:5:0mz\x1b[4:3mz"), "azz");
  EXPECT_EQ(through("a\x1b[;8mz\x1b[0m"), "a\x1b[0mz\x1b[0m");
}

TEST(TerminalFilter, CharactersThatReorderOrHideTextAreShownAsSuch) {
  for (const std::string_view hidden :
       {"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\u200e", "\u200f",
        "\u061c", "\u2028", "\u2029", "\u200b", "\u2060", "\ufeff", "\U000e0041", "\ufff9"}) {
    EXPECT_EQ(through("a" + std::string(hidden) + "z"), "a\xEF\xBF\xBDz");
  }
}

TEST(TerminalFilter, ASequenceCutShortDoesNotSwallowTheText) {
  EXPECT_EQ(through("a\x1b[31\nz"), "a\nz");
  EXPECT_EQ(through("a\x1b\nz"), "a\nz");
  EXPECT_EQ(through("a\xE2\x82z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(through("a\xE2\x82"), "a\xEF\xBF\xBD");
  EXPECT_EQ(through("a\x1b["), "a");
  EXPECT_EQ(through("a\x1b]0;never ended"), "a");
}

TEST(TerminalFilter, ColoursLeftOnAreTurnedOff) { EXPECT_EQ(through("\x1b[31mred"), "\x1b[31mred\x1b[0m"); }

TEST(TerminalFilter, HowTheBytesAreCutUpMakesNoDifference) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& pieces) {
    std::string whole;
    std::string out;
    TerminalFilter filter;
    for (const std::string& piece : pieces) {
      whole += piece;
      out += filter.filter(piece);
    }
    out += filter.finish();
    RC_ASSERT(out == through(whole));
  }));
}

TEST(TerminalFilter, WhateverComesOutIsTextAndColoursOnly) {
  const auto byte =
      rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::element('\x1b', '[', ']', ';', '1', 'm', '\\', '\x9b'));
  EXPECT_TRUE(rc::check([&] {
    const std::string out = through(*rc::gen::container<std::string>(byte));
    RC_ASSERT(is_valid_utf8(out));
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i] != '\x1b') continue;
      RC_ASSERT(out.substr(i + 1, 1) == "[");
      RC_ASSERT(out.find_first_not_of("0123456789;:", i + 2) == out.find('m', i + 2));
    }
  }));
}

}  // namespace
}  // namespace sallyport::cli
