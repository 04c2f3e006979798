#include "core/text/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace sallyport {
namespace {

TEST(MatchesPath, AStarStaysWithinOneComponent) {
  EXPECT_TRUE(matches_path("src/*.cc", "src/a.cc"));
  EXPECT_FALSE(matches_path("src/*.cc", "src/deep/a.cc"));
  EXPECT_TRUE(matches_path("s?c/a.cc", "src/a.cc"));
  EXPECT_FALSE(matches_path("s?c/a.cc", "s/c/a.cc"));
}

TEST(MatchesPath, TwoStarsSpanAnyNumberOfDirectories) {
  EXPECT_TRUE(matches_path("**/a.cc", "a.cc"));
  EXPECT_TRUE(matches_path("**/a.cc", "x/y/a.cc"));
  EXPECT_TRUE(matches_path("src/**/a.cc", "src/a.cc"));
  EXPECT_TRUE(matches_path("**", "anything/at/all"));
  EXPECT_FALSE(matches_path("src/**/a.cc", "other/a.cc"));
}

TEST(MatchesPath, ADirectoryMeansEverythingBelowIt) {
  EXPECT_TRUE(matches_path("src", "src/deep/a.cc"));
  EXPECT_TRUE(matches_path("src/", "src/deep/a.cc"));
  EXPECT_TRUE(matches_path("src", "src"));
  EXPECT_FALSE(matches_path("src", "srcs/a.cc"));
  EXPECT_FALSE(matches_path("src/deep", "src"));
}

TEST(MatchesPath, AnEmptyPatternMatchesNothing) {
  EXPECT_FALSE(matches_path("", "a"));
  EXPECT_FALSE(matches_path("/", "a"));
}

TEST(MatchesPath, ManyStarsCostNoMoreThanTheirProduct) {
  std::string stars;
  for (int i = 0; i < 200; ++i) stars += "*a";
  EXPECT_FALSE(matches_path(stars + "b", std::string(20000, 'a')));
}

}  // namespace
}  // namespace sallyport
