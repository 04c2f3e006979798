#include "jobs/lint/exceptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sallyport::jobs {
namespace {

TEST(LintExceptions, NeedARuleAPathAndAReason_C30) {
  const auto parsed =
      parse_exceptions("# why\n\nc-process src/spawn/** the one layer\n* third_party/** not ours\r\n", "f");
  ASSERT_TRUE(parsed.has_value());
  ASSERT_EQ(parsed->size(), 2U);
  EXPECT_EQ(parsed->front().reason, "the one layer");
  EXPECT_EQ(parsed->back().rule, "*");
  EXPECT_EQ(parsed->back().reason, "not ours");
}

TEST(LintExceptions, AreRefusedWithLineAndColumn_C30) {
  const auto no_reason = parse_exceptions("\nc-process src/** \n", "file");
  ASSERT_FALSE(no_reason.has_value());
  EXPECT_EQ(no_reason.error().as<PolicyError>()->line, 2U);
  EXPECT_THAT(no_reason.error().message, testing::HasSubstr("no reason"));
  const auto no_rule = parse_exceptions("c-proces src/** because", "file");
  ASSERT_FALSE(no_rule.has_value());
  EXPECT_EQ(no_rule.error().as<PolicyError>()->column, 1U);
  EXPECT_FALSE(parse_exceptions("c-process", "file").has_value());
}

TEST(PathPattern, KnowsStarsWithinAndAcrossDirectories) {
  EXPECT_TRUE(path_matches("src/*.cc", "src/a.cc"));
  EXPECT_FALSE(path_matches("src/*.cc", "src/x/a.cc"));
  EXPECT_TRUE(path_matches("src/**", "src/x/a.cc"));
  EXPECT_TRUE(path_matches("**/a.cc", "src/x/a.cc"));
  EXPECT_TRUE(path_matches("src/**/a*.cc", "src/x/y/abc.cc"));
  EXPECT_FALSE(path_matches("src/**/b*.cc", "src/x/y/abc.cc"));
  EXPECT_FALSE(path_matches("src", "src/a.cc"));
  EXPECT_FALSE(path_matches("sr?", "sr/"));
  EXPECT_TRUE(path_matches("sr?", "src"));
  // Would take a naive matcher longer than the universe has existed.
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "**a";
  EXPECT_FALSE(path_matches(pattern, std::string(200, 'a') + "b"));
}

}  // namespace
}  // namespace sallyport::jobs
