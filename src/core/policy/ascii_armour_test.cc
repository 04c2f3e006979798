#include "core/policy/ascii_armour.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/text/utf8.h"
#include "sallyport/allowlist.h"

namespace sallyport {
namespace {

TEST(AsciiArmour, LeavesAsciiAlone) {
  EXPECT_EQ(AsciiArmour("a = \"b\"\n").text(), "a = \"b\"\n");
  EXPECT_EQ(AsciiArmour("\xEF\xBB\xBF"
                        "a")
                .text(),
            "a");
}

TEST(AsciiArmour, GivesBackWhatItHid) {
  for (const std::string original :
       {"gr\u00fc\u00dfe", "z0z", "z0z\u0416", "z0\u0416z0z0003d8", "\U0001F6AA z1z \uFFFF"}) {
    const AsciiArmour armour(original);
    EXPECT_TRUE(std::ranges::all_of(armour.text(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
    EXPECT_EQ(armour.original(armour.text()), original);
  }
}

// Any code points: random bytes are almost never valid UTF-8, so the text is built from what it should mean.
RC_GTEST_PROP(AsciiArmour, GivesBackAnyText, (const std::vector<std::uint8_t>& choices)) {
  constexpr std::array kPieces = {"a", "z", "0", "z0z", "\n", "\"", "\u00fc", "\u0416", "\uFFFF", "\U0001F6AA"};
  std::string text;
  for (const std::uint8_t choice : choices) text += kPieces[choice % kPieces.size()];
  RC_ASSERT(is_valid_utf8(text));
  const AsciiArmour armour(text);
  RC_ASSERT(armour.original(armour.text()) == text);
}

TEST(AsciiArmour, CountsColumnsAsInTheOriginal) {
  const AsciiArmour armour("x\n\u0416\u0416 = 1");
  const unsigned column = static_cast<unsigned>(armour.text().find('=') - armour.text().find('\n'));
  EXPECT_EQ(armour.original_column(2, column), 4U);
  EXPECT_EQ(armour.original_column(1, 1), 1U);
  EXPECT_EQ(armour.original_column(1, 9), 9U);
  EXPECT_EQ(armour.original_column(9, 3), 3U);
  EXPECT_EQ(armour.original_column(0, 0), 0U);
}

constexpr std::string_view kPolicyHead = "schema = \"sallyport.policy/1\"\n";

TEST(PolicyText, MayHoldAnyLanguageInItsStringsAndComments) {
  const auto policy = Allowlist::from_policy(
      std::string(kPolicyHead) +
          "# \u0416\n[[tool]]\nname = \"git\"\ndecision_record = 'R\u00fc'\nreason = \"gr\u00fc\u00dfe\"\n",
      "p.toml");
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->entries()[0].reason, "gr\u00fc\u00dfe");
  EXPECT_EQ(policy->entries()[0].decision_record, "R\u00fc");
}

TEST(PolicyText, IsShownAsItWasWrittenInAnError_C3) {
  const auto policy = Allowlist::from_policy(std::string(kPolicyHead) + "\"\u0416\u0416\" = 1\n", "p.toml");
  ASSERT_FALSE(policy.has_value());
  EXPECT_NE(policy.error().message.find("'\u0416\u0416'"), std::string::npos) << policy.error().message;
}

TEST(PolicyText, ThatIsNotUtf8IsAnErrorWithItsPlace_C3) {
  const auto policy = Allowlist::from_policy("a = 1\n\u0416 \xFF", "p.toml");
  ASSERT_FALSE(policy.has_value());
  ASSERT_NE(policy.error().as<PolicyError>(), nullptr);
  EXPECT_EQ(policy.error().as<PolicyError>()->line, 2U);
  EXPECT_EQ(policy.error().as<PolicyError>()->column, 3U);
}

// Each of these made toml++ 3.3.0 abort or run into undefined behaviour; fuzz/corpus/policy_toml keeps them too.
TEST(PolicyText, ThatBreaksTheParserIsAnError_C3) {
  for (const std::string_view toml :
       {"[[=", "[/[tool", "[[[1]]]", "[{tool]]", "a = \u03d8it\"", "a =44e8\"x*\u0471N"}) {
    const auto policy = Allowlist::from_policy(toml, "p.toml");
    ASSERT_FALSE(policy.has_value()) << toml;
    ASSERT_NE(policy.error().as<PolicyError>(), nullptr);
    EXPECT_EQ(policy.error().as<PolicyError>()->line, 1U);
  }
}

}  // namespace
}  // namespace sallyport
