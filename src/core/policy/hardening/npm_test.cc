#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/policy/hardening.h"
#include "core/policy/hardening/facts.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/npm_keys.h"
#include "core/policy/hardening/npm_layout.h"
#include "core/policy/hardening/npm_packages.h"
#include "core/policy/hardening/test_calls.h"

namespace sallyport::hardening {
namespace {

using testing::Contains;
using testing::ElementsAre;

std::string value_in(const std::vector<EnvVar>& env, std::string_view name) {
  const auto found = std::ranges::find(env, name, &EnvVar::name);
  return found == env.end() ? "unset" : found->value;
}

TEST(HardenNpm, SwitchesScriptsOffTwice_C25) {
  const Result<HardenedCommand> command = hardened({"npm", "install", "--package-lock-only"});
  ASSERT_TRUE(command.has_value());
  EXPECT_THAT(command->argv, ElementsAre("npm", "--ignore-scripts", "install", "--package-lock-only"));
  EXPECT_EQ(value_in(command->env, "npm_config_ignore_scripts"), "true");
  EXPECT_EQ(value_in(command->env, "npm_config_update_notifier"), "false");
}

TEST(HardenNpm, PinsEveryKeyThatNamesAProgramAFileOrAConfiguration_C25) {
  const std::vector<EnvVar> env = hardened({"npm", "ci"})->env;
  for (const NpmPin& pin : npm_pins()) {
    EXPECT_EQ(value_in(env, npm_variable(pin.key)), pin.value) << pin.key;
    EXPECT_FALSE(pin.value.empty()) << pin.key << ": npm ignores an empty variable";
    EXPECT_FALSE(pin.why.empty()) << pin.key;
  }
  for (const char* key : {"git", "script-shell", "shell", "node-options", "browser", "viewer", "editor", "init-module",
                          "global", "location", "cache", "logs-dir", "pack-destination", "userconfig", "cafile",
                          "strict-ssl", "allow-git", "allow-remote", "ignore-scripts"}) {
    EXPECT_NE(value_in(env, npm_variable(key)), "unset") << key;
  }
}

TEST(HardenNpm, HasOneClassForEachKey) {
  std::multiset<std::string_view> keys;
  for (const NpmPin& pin : npm_pins()) keys.insert(pin.key);
  for (const NpmPin& pin : npm_layout_pins()) keys.insert(pin.key);
  for (const auto list : {npm_unreachable_keys(), npm_flag_keys(), npm_one_word_keys(), npm_valued_keys()}) {
    keys.insert(list.begin(), list.end());
  }
  for (const std::string_view key : keys) EXPECT_EQ(keys.count(key), 1U) << key;
}

TEST(HardenNpm, LetsOrdinaryCommandsThrough) {
  for (const Args& argv : std::vector<Args>{
           {"npm"},
           {"npm", "--version"},
           {"npm", "test"},
           {"npm", "test", "--silent", "--", "--prefix=x", "../.."},
           {"npm", "run", "build", "--", "--prefix=x"},
           {"npm", "run", "build", "-w", "packages/a"},
           {"npm", "run", "build", "--workspace", "packages/a", "--if-present"},
           {"npm", "--silent", "run", "build"},
           {"npm", "--registry=http://registry.test/", "ci"},
           {"npm", "--loglevel=error", "ci"},
           {"npm", "ci", "--omit=dev", "--omit", "optional"},
           {"npm", "config", "get", "registry"},
           {"npm", "config", "list", "--json"},
           {"npm", "install", "--ignore-scripts"},
           {"npm", "install", "--no-audit", "-D", "left-pad"},
           {"npm", "install", "--registry", "http://registry.test/", "left-pad@^1.0.0", "@s/n@latest", "@s/n",
            "x@~1.2"},
           {"npm", "install", "./pkg.tgz", "file:./sub", "x@file:sub", "./sub", "sub/x.tgz", "alias@npm:real@1"},
           {"npm", "install", "--@scope:registry=http://registry.test/"},
           {"npm", "install", "--cache=/tmp/probe/cache", "--prefer-offline"},
           {"npm", "install", "--allow-git=root", "git+https://host.test/x.git", "user/repo", "x@github:user/repo"},
           {"npm", "install", "--allow-remote=all", "https://host.test/x.tgz"},
           {"npm", "ls", "--all", "--json", "--depth", "0"},
           {"npm", "explain", "node_modules/x"},
           {"npm", "pack", "--pack-destination=/tmp/probe"},
           {"npm", "audit", "fix", "--dry-run"},
           {"npm", "install", "--strict-ssl=false", "--cafile=/etc/company.pem"},
           {"npm", "--ignore-scripts", "install"}}) {
    EXPECT_TRUE(hardened(argv).has_value()) << testing::PrintToString(argv) << message(hardened(argv));
  }
}

TEST(HardenNpm, RefusesEverySpellingThatTurnsScriptsOn_C25) {
  for (const Args& argv : std::vector<Args>{{"npm", "install", "--ignore-scripts=false"},
                                            {"npm", "install", "--ignore-scripts", "false"},
                                            {"npm", "install", "--no-ignore-scripts"},
                                            {"npm", "install", "--No-ignore-scripts"},
                                            {"npm", "install", "--no-no-no-ignore-scripts"},
                                            {"npm", "install", "---no-ignore-scripts"},
                                            {"npm", "install", "-no-ignore-scripts"},
                                            {"npm", "install", "--ignore-scr=false"},
                                            {"npm", "install", "--no-ignore-s"},
                                            {"npm", "install", "--dangerously-allow-all-scripts"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(HardenNpm, RefusesEveryPinnedKeyTheCallerMayNotChoose_C25) {
  for (const auto pins : {npm_pins(), npm_layout_pins()}) {
    for (const NpmPin& pin : pins) {
      // The gate checks where a caller's --prefix leads (everyday_test.cc).
      if (pin.caller_may || pin.key == "ignore-scripts" || pin.key == "prefix") continue;
      const std::string key(pin.key);
      for (const std::string& word : {"--" + key + "=x", "--" + key, "--no-" + key, "-" + key, "---" + key}) {
        EXPECT_TRUE(refused({"npm", "install", word, "x"})) << word;
        EXPECT_TRUE(refused({"npm", word, "install"})) << word;
      }
      EXPECT_TRUE(refused({"npm", "install", "--" + key.substr(0, key.size() - 1) + "=x"})) << key;
    }
  }
  for (const Args& argv : std::vector<Args>{{"npm", "install", "-g", "x"},
                                            {"npm", "install", "-gf", "x"},
                                            {"npm", "install", "-L", "global"},
                                            {"npm", "install", "-c", "x"},
                                            {"npm", "install", "--init-module=x"},
                                            {"npm", "install", "--init.module=x"},
                                            {"npm", "install", "--allow-git", "all"},
                                            {"npm", "install", "--invented=x"},
                                            {"npm", "install", "--//host.test/:certfile=/x"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

// nopt reads these values as options or arguments of their own.
TEST(HardenNpm, RefusesOptionsThatHideBehindAnother_C25) {
  for (const Args& argv : std::vector<Args>{{"npm", "test", "--tag=--script-shell=./evil"},
                                            {"npm", "test", "--tag=-g"},
                                            {"npm", "--registry=--script-shell=./evil", "test"},
                                            {"npm", "--json=exec", "install"},
                                            {"npm", "install", "--json=../x"},
                                            {"npm", "install", "--no-tag=../x"},
                                            {"npm", "test", "--tag", "--script-shell=./evil"},
                                            {"npm", "test", "--browser", "--", "--script-shell=./evil"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(HardenNpm, TakesTheFirstWordForTheCommandAndNothingElse_C25) {
  for (const Args& argv : std::vector<Args>{{"npm", "--tag", "test", "exec", "--", "./evil.sh"},
                                            {"npm", "--tag=test", "exec"},
                                            {"npm", "--loglevel", "test", "exec"},
                                            {"npm", "--registry", "test", "exec"},
                                            {"npm", "-w", "test", "exec"},
                                            {"npm", "--json", "true", "exec"},
                                            {"npm", "--", "exec"},
                                            {"npm", "explore", "x"},
                                            {"npm", "exe"},
                                            {"npm", "init", "x"},
                                            {"npm", "link"},
                                            {"npm", "pkg", "set", "x=y"},
                                            {"npm", "set", "x=y"},
                                            {"npm", "cache", "clean"},
                                            {"npm", "config", "set", "ignore-scripts", "false"},
                                            {"npm", "config"},
                                            {"npm", "config", "--json", "edit"},
                                            {"npm", "false", "install"},
                                            {"npm", ""},
                                            {"npm", "publish"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(HardenNpm, TakesPackagesOfARegistryAndOfTheRepoOnly_C25) {
  for (const std::string package : {"git+https://host.test/x.git",
                                    "git://host.test/x",
                                    "git@host.test:x/y.git",
                                    "ssh://git@host.test/x",
                                    "github:user/repo",
                                    "GitHub:user/repo",
                                    "user/repo",
                                    "user/repo#main",
                                    "x@user/repo",
                                    "x@git+ssh://host.test/x",
                                    "x@npm:y@git+https://host.test/x",
                                    "gist:1234",
                                    "https://host.test/x.tgz",
                                    "HTTP://host.test/x.tgz",
                                    "x@https://host.test/x.tgz",
                                    "https://user@host.test/x.tgz",
                                    "../x",
                                    "./../x",
                                    "./a/../../x",
                                    "..",
                                    "/etc",
                                    "~/x",
                                    "file:/etc",
                                    "file:///etc",
                                    "file:../x",
                                    "FILE:../x",
                                    "file:%2e%2e/x",
                                    "file:.\t./x",
                                    "x@file:../x",
                                    "x@/etc",
                                    "x@../y",
                                    "@s/n@file:/etc",
                                    "a\\..\\..\\x",
                                    "@/../../x",
                                    "../x.tgz",
                                    "/x.tgz",
                                    "C:\\x"}) {
    EXPECT_TRUE(refused({"npm", "install", package})) << package;
    EXPECT_TRUE(refused({"npm", "install", "--", package})) << package;
    EXPECT_TRUE(refused({"npm", "pack", package})) << package;
    EXPECT_TRUE(refused({"npm", "diff", "--diff=" + package})) << package;
    EXPECT_TRUE(refused({"npm", "diff", "--diff", package})) << package;
  }
  EXPECT_TRUE(refused({"npm", "install", "--allow-git=none", "user/repo"}));
  EXPECT_TRUE(refused({"npm", "install", "--allow-git=all", "../x"}));
}

TEST(HardenNpm, StartsGitOnlyWhereTheCallerAllowsGitDependencies) {
  EXPECT_EQ(value_in(hardened({"npm", "ci"})->env, "npm_config_git"), kNoGit);
  EXPECT_EQ(value_in(hardened({"npm", "ci", "--allow-git=none"})->env, "npm_config_git"), kNoGit);
  EXPECT_EQ(value_in(hardened({"npm", "ci", "--allow-git=root"})->env, "npm_config_git"), "git");
}

HardenedCommand fitted(const NpmLayout& layout) {
  HardenedCommand command = *hardened({"npm", "ci"});
  fit_to_npm(layout, command.argv, command.env);
  return command;
}

TEST(FitToNpm, PinsThePathsOfTheInstallation_C25) {
  const HardenedCommand command = fitted({.version = NpmVersion{12, 0},
                                          .root = "/usr/lib/node_modules/npm",
                                          .prefix = "/usr",
                                          .global_config = "/usr/etc/npmrc"});
  EXPECT_THAT(command.argv, ElementsAre("npm", "--globalconfig=/usr/etc/npmrc",
                                        "--global-ignore-file=/usr/etc/npmignore", "--ignore-scripts", "ci"));
  EXPECT_EQ(value_in(command.env, "npm_config_globalconfig"), "/usr/etc/npmrc");
  EXPECT_EQ(value_in(command.env, "npm_config_prefix"), "/usr");
  EXPECT_EQ(value_in(command.env, "npm_config_node_gyp"),
            "/usr/lib/node_modules/npm/node_modules/node-gyp/bin/node-gyp.js");
  EXPECT_EQ(value_in(command.env, "npm_config_global_ignore_file"), "/usr/etc/npmignore");
  EXPECT_TRUE(std::ranges::is_sorted(command.env, {}, &EnvVar::name));
}

TEST(FitToNpm, LeavesOutWhatTheVersionWouldWarnOf) {
  const HardenedCommand old =
      fitted({.version = NpmVersion{11, 8}, .root = "/n", .prefix = "/p", .global_config = "/g"});
  EXPECT_EQ(value_in(old.env, "npm_config_allow_git"), "unset");
  EXPECT_EQ(value_in(old.env, "npm_config_onload_script"), "unset");
  EXPECT_EQ(value_in(old.env, "npm_config_git"), kNoGit);
  EXPECT_EQ(value_in(old.env, "npm_config_node_gyp"), "/n/node_modules/node-gyp/bin/node-gyp.js");
  const HardenedCommand next = fitted({.version = NpmVersion{11, 14}});
  EXPECT_EQ(value_in(next.env, "npm_config_allow_git"), "none");
  EXPECT_EQ(value_in(next.env, "npm_config_allow_remote"), "none");
  EXPECT_EQ(value_in(next.env, "npm_config_ignore_extension"), "unset");
  EXPECT_EQ(value_in(fitted({.version = NpmVersion{6, 14}}).env, "npm_config_onload_script"), "false");
}

TEST(FitToNpm, PinsEverythingForAnNpmItDoesNotKnow) {
  const HardenedCommand command = fitted({});
  for (const NpmPin& pin : npm_pins()) EXPECT_NE(value_in(command.env, npm_variable(pin.key)), "unset") << pin.key;
  for (const NpmPin& pin : npm_layout_pins()) EXPECT_EQ(value_in(command.env, npm_variable(pin.key)), "/dev/null");
  EXPECT_THAT(command.argv, Contains("--globalconfig=/dev/null"));
}

TEST(NpmFacts, SayWhyForEachPin) {
  const std::vector<HardeningFact> facts = hardening_facts(*Allowlist::builtin().find("npm"));
  EXPECT_GT(facts.size(), npm_pins().size());
  for (const HardeningFact& fact : facts) EXPECT_FALSE(fact.what.empty() || fact.why.empty());
}

}  // namespace
}  // namespace sallyport::hardening
