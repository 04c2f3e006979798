#include "gate/why.h"

#include <gtest/gtest.h>

namespace sallyport {
namespace {

constexpr uid_t kRoot = 0;
constexpr uid_t kUser = 1000;

TEST(ExpectedJail, IsNativeWhereNothingForbidsUserNamespaces) {
  for (const uid_t user : {kRoot, kUser}) {
    EXPECT_EQ(expected_jail({}, user).value(), JailKind::kNative);
    EXPECT_EQ(expected_jail({.max_user_namespaces = '9', .unprivileged_userns_clone = '1'}, user).value(),
              JailKind::kNative);
  }
}

TEST(ExpectedJail, IsBwrapForAPlainUserWhereAppArmorRestrictsUserNamespaces) {
  EXPECT_EQ(expected_jail({.apparmor_restricts_userns = '1'}, kUser).value(), JailKind::kBwrap);
  EXPECT_EQ(expected_jail({.apparmor_restricts_userns = '1'}, kRoot).value(), JailKind::kNative);
}

TEST(ExpectedJail, IsNoneWhereUserNamespacesAreOff) {
  const Result<JailKind> off = expected_jail({.max_user_namespaces = '0'}, kRoot);
  ASSERT_FALSE(off.has_value());
  EXPECT_NE(off.error().as<JailUnavailable>(), nullptr);
  EXPECT_NE(off.error().hint.find("max_user_namespaces"), std::string::npos);
  EXPECT_FALSE(expected_jail({.unprivileged_userns_clone = '0'}, kUser).has_value());
  EXPECT_TRUE(expected_jail({.unprivileged_userns_clone = '0'}, kRoot).has_value());
}

}  // namespace
}  // namespace sallyport
