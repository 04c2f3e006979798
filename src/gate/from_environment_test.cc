// GateConfig::from_environment: that it reads this process's variables. What is made of them: core/policy/base_variables_test.cc.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "sallyport/gate.h"

namespace sallyport {
namespace {

// Each test of this program has a process of its own.
class FromEnvironment : public testing::Test {
 protected:
  FromEnvironment() {
    set("PATH", "/somewhere:/usr/bin");
    set("HOME", "/home/me");
    set("LANG", "C.UTF-8");
    ::unsetenv("LC_ALL");
    set("XDG_CACHE_HOME", "/caches");
    set("XDG_STATE_HOME", "/states");
    ::unsetenv("npm_config_userconfig");
    set("NPM_CONFIG_USERCONFIG", "ci.npmrc");
    set("NPM_CONFIG_REGISTRY", "https://registry.test/");
    set("NODE_OPTIONS", "--require=/tmp/evil.js");
  }

  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
};

TEST_F(FromEnvironment, HasTheVariablesOfThisProcess_C7) {
  const GateConfig config = GateConfig::from_environment("/repo");
  EXPECT_EQ(config.repo, "/repo");
  EXPECT_EQ(config.search_path, (std::vector<std::filesystem::path>{"/somewhere", "/usr/bin"}));
  EXPECT_EQ(config.base_env,
            (std::vector<EnvVar>{{"PATH", "/somewhere:/usr/bin"}, {"HOME", "/home/me"}, {"LANG", "C.UTF-8"}}));
  EXPECT_EQ(config.cache_dir, "/caches/sallyport");
  EXPECT_EQ(config.npm.npmrc, std::filesystem::current_path() / "ci.npmrc");
  EXPECT_EQ(config.npm.registry, "https://registry.test/");
  ASSERT_TRUE(config.npm.variable);
  EXPECT_EQ(config.npm.variable("LANG"), "C.UTF-8");
  EXPECT_FALSE(config.npm.variable("LC_ALL"));
  EXPECT_EQ(default_workspace_dir(), "/states/sallyport/workspaces");
}

TEST_F(FromEnvironment, LeavesEverythingElseAsItIsByDefault) {
  const GateConfig config = GateConfig::from_environment("/repo");
  EXPECT_EQ(config.events, nullptr);
  EXPECT_EQ(config.audit, nullptr);
  EXPECT_EQ(config.warm_jails, 0u);
  EXPECT_FALSE(config.policy);
  EXPECT_EQ(config.auto_jails, GateConfig().auto_jails);
}

}  // namespace
}  // namespace sallyport
