#include "core/shared_text.h"

#include <gtest/gtest.h>

namespace sallyport {
namespace {

TEST(SharedText, IsItsTextHoweverItWasMade) {
  const std::string long_text(10'000, 'x');
  EXPECT_EQ(SharedText(long_text).view(), long_text);
  EXPECT_EQ(SharedText("short").view(), "short");
  EXPECT_EQ(SharedText(std::string(3, '\0')).size(), 3U);
  EXPECT_EQ(SharedText().view(), "");
  EXPECT_EQ(SharedText(), SharedText(""));
}

TEST(SharedText, IsEqualByTextAndACopyHasTheSameBytes) {
  const SharedText one(std::string(100, 'a'));
  const SharedText same = one;
  EXPECT_EQ(one.view().data(), same.view().data());
  EXPECT_EQ(one, SharedText(std::string(100, 'a')));
  EXPECT_NE(one, SharedText(std::string(99, 'a')));
  EXPECT_NE(one, SharedText());
}

}  // namespace
}  // namespace sallyport
