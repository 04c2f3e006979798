#include "os/host_switches.h"

#include <gtest/gtest.h>

namespace sallyport {
namespace {

constexpr uid_t kRoot = 0;
constexpr uid_t kUser = 1000;

TEST(UserNamespaces, AreOnWhereNothingForbidsThem) {
  for (const uid_t user : {kRoot, kUser}) {
    EXPECT_FALSE(user_namespaces_off({}, user));
    EXPECT_FALSE(user_namespaces_off({.max_user_namespaces = '9', .unprivileged_userns_clone = '1'}, user));
  }
}

TEST(UserNamespaces, AreRestrictedByAppArmorForAPlainUserOnly) {
  const HostSwitches host{.apparmor_restricts_userns = '1'};
  ASSERT_TRUE(user_namespaces_off(host, kUser));
  EXPECT_TRUE(user_namespaces_off(host, kUser)->by_apparmor);
  EXPECT_FALSE(user_namespaces_off(host, kRoot));
}

TEST(UserNamespaces, AreOffBySysctlWithAdviceThatNamesIt) {
  const auto off = user_namespaces_off({.max_user_namespaces = '0'}, kRoot);
  ASSERT_TRUE(off);
  EXPECT_FALSE(off->by_apparmor);
  EXPECT_NE(off->advice.find("max_user_namespaces"), std::string_view::npos);
  EXPECT_TRUE(user_namespaces_off({.unprivileged_userns_clone = '0'}, kUser));
  EXPECT_FALSE(user_namespaces_off({.unprivileged_userns_clone = '0'}, kRoot));
}

// No AppArmor profile overrides another sysctl that forbids them.
TEST(UserNamespaces, NameTheStrongerSwitchFirst) {
  const auto off = user_namespaces_off({.unprivileged_userns_clone = '0', .apparmor_restricts_userns = '1'}, kUser);
  ASSERT_TRUE(off);
  EXPECT_FALSE(off->by_apparmor);
}

}  // namespace
}  // namespace sallyport
