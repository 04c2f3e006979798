// printable, UTF-8, whole numbers, units as they are written, did-you-mean.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/did_you_mean.h"
#include "core/text/number.h"
#include "core/text/printable.h"
#include "core/text/units.h"
#include "core/text/utf8.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

TEST(Printable, KeepsOrdinaryTextAndEscapesWhatSteersATerminalOrAReader) {
  EXPECT_EQ(printable("grüße, 世界 / a\\b"), "grüße, 世界 / a\\b");
  EXPECT_EQ(printable("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\nb\\tc\\r");
  EXPECT_EQ(printable("\xff\xc0\xaf"), "\\xff\\xc0\\xaf");
  EXPECT_EQ(printable("\u202Eevil\u2066"), "\\u{202e}evil\\u{2066}");
  EXPECT_EQ(printable("\u009b31m\u200b"), "\\u{009b}31m\\u{200b}");
  EXPECT_EQ(printable("nul\0x"s), "nul\\x00x");
}

RC_GTEST_PROP(Printable, GivesOneLineOfValidUtf8AndChangesItNoFurther, (const std::string& bytes)) {
  const std::string shown = printable(bytes);
  RC_ASSERT(is_valid_utf8(shown));
  for (const char c : shown) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20U && c != '\x7f');
  RC_ASSERT(printable(shown) == shown);
}

TEST(Utf8, RefusesOverlongSurrogateTruncatedAndTooLargeForms) {
  for (const char* text : {"", "plain ascii, long enough for words", "é", "€", "😀", "\U0010FFFF"}) {
    EXPECT_TRUE(is_valid_utf8(text)) << text;
  }
  for (const char* text : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                           "\xf8\x88\x80\x80\x80", "\xe2\x82", "12345678\xff", "\xc3("}) {
    EXPECT_FALSE(is_valid_utf8(text)) << printable(text);
  }
}

TEST(WholeNumber, IsTheWholeTextAndFitsItsType) {
  EXPECT_EQ(whole_number<std::uint8_t>("255"), 255);
  EXPECT_EQ(whole_number<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(whole_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(whole_number<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(whole_number<int>("-7"), -7);
  EXPECT_EQ(whole_number<unsigned>("007"), 7U);
  EXPECT_EQ(whole_number<unsigned>("fF", 16), 255U);
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "1x", "0x1", "1.0", "-"}) {
    EXPECT_EQ(whole_number<unsigned>(text), std::nullopt) << text;
  }
  EXPECT_EQ(whole_number<unsigned>(std::string_view("12\0", 3)), std::nullopt);
}

TEST(Units, WritesDurationsAndSizesForPeople) {
  EXPECT_EQ(format_duration(850us), "850 us");
  EXPECT_EQ(format_duration(12'300us), "12.3 ms");
  EXPECT_EQ(format_duration(1500ms), "1.50 s");
  EXPECT_EQ(format_duration(125s), "2 min 5 s");
  EXPECT_EQ(format_duration(2h + 3min), "2 h 3 min");
  EXPECT_EQ(format_bytes(ByteCount{999}), "999 B");
  EXPECT_EQ(format_bytes(ByteCount{1536}), "1.5 KiB");
  EXPECT_EQ(format_bytes(mebibytes(64)), "64 MiB");
}

TEST(DidYouMean, FindsSlipsAndNothingElse) {
  const std::vector<std::string_view> names = {"run", "explain", "doctor", "allowlist", "rg", "git"};
  EXPECT_EQ(nearest("rnu", names), "run");
  EXPECT_EQ(nearest("explian", names), "explain");
  EXPECT_EQ(nearest("alowlist", names), "allowlist");
  EXPECT_EQ(nearest("gti", names), "git");
  EXPECT_EQ(nearest("zzz", names), std::nullopt);
  EXPECT_EQ(nearest("x", names), std::nullopt);
  EXPECT_EQ(nearest("", names), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'a'), names), std::nullopt);
  EXPECT_EQ(did_you_mean("docter", names), "did you mean 'doctor'?");
}

}  // namespace
}  // namespace sallyport
