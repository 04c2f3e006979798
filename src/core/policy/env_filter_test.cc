#include "core/policy/env_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace sallyport {
namespace {

using testing::ElementsAre;

std::vector<EnvVar> hostile_base() {
  return {{"PATH", "/usr/bin"},
          {"SSH_AUTH_SOCK", "/run/agent"},
          {"AWS_SECRET_ACCESS_KEY", "s"},
          {"AWS_SESSION_TOKEN", "s"},
          {"GITHUB_TOKEN", "s"},
          {"OPENAI_API_KEY", "s"},
          {"ANTHROPIC_API_KEY", "s"},
          {"LD_PRELOAD", "/tmp/x.so"},
          {"HOME", "/home/u"},
          {"NODE_OPTIONS", "-r x"},
          {"LANG", "C.UTF-8"},
          {"LC_ALL", "C"}};
}

TEST(ChildEnv, TakesOnlyTheFourNamesAndTheExtras_C7_C34) {
  const std::vector<EnvVar> extras = {{"NODE_ENV", "test"}, {"CI", "1"}};
  const Result<std::vector<EnvVar>> env = child_env(hostile_base(), extras);
  ASSERT_TRUE(env.has_value());
  EXPECT_THAT(*env, ElementsAre(EnvVar{"CI", "1"}, EnvVar{"HOME", "/home/u"}, EnvVar{"LANG", "C.UTF-8"},
                                EnvVar{"LC_ALL", "C"}, EnvVar{"NODE_ENV", "test"}, EnvVar{"PATH", "/usr/bin"}));
}

TEST(ChildEnv, LeavesOutBaseNamesThatDoNotExist_C7) {
  const std::vector<EnvVar> base = {{"PATH", "/usr/bin"}};
  EXPECT_THAT(*child_env(base, {}), ElementsAre(EnvVar{"PATH", "/usr/bin"}));
}

class ForbiddenExtra : public testing::TestWithParam<const char*> {};

TEST_P(ForbiddenExtra, IsRefusedByName_C7) {
  const std::vector<EnvVar> extras = {{GetParam(), "x"}};
  const Result<std::vector<EnvVar>> env = child_env({}, extras);
  ASSERT_FALSE(env.has_value());
  ASSERT_NE(env.error().as<InvalidRequest>(), nullptr);
  EXPECT_EQ(env.error().as<InvalidRequest>()->field, "env_extras");
  EXPECT_FALSE(env.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Names, ForbiddenExtra,
    testing::Values("PATH", "HOME", "LANG", "LC_ALL", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "LD_ANYTHING_NEW",
                    "DYLD_INSERT_LIBRARIES", "GCONV_PATH", "GLIBC_TUNABLES", "MALLOC_CHECK_", "BASH_ENV", "ENV", "IFS",
                    "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH",
                    "PYTHONSTARTUP", "PYTHONHOME", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS",
                    "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF",
                    "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_CONFIG_COUNT",
                    "GIT_CONFIG_PARAMETERS", "GIT_TEMPLATE_DIR", "GIT_DIR", "GIT_TRACE", "npm_config_ignore_scripts",
                    "NPM_CONFIG_IGNORE_SCRIPTS", "Npm_Config_Script_Shell", "RIPGREP_CONFIG_PATH", "EDITOR", "VISUAL",
                    "PAGER", "LESSOPEN", "DOCKER_HOST", "DOCKER_CONFIG", "SEMGREP_SEND_METRICS", "OPENSSL_CONF",
                    "SSH_ASKPASS", "XDG_CONFIG_HOME", "RUSTC", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER", "MAKE",
                    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "MAKEFILES", "CMAKE_TOOLCHAIN_FILE",
                    "CMAKE_CXX_COMPILER_LAUNCHER", "GCC_EXEC_PREFIX", "COMPILER_PATH", "CCACHE_PREFIX", "LD", "AR",
                    "DEPENDENCIES_OUTPUT", "JDK_JAVAC_OPTIONS", "PYTEST_PLUGINS", "COVERAGE_PROCESS_START"));

TEST(ChildEnv, AcceptsHarmlessMembersOfClosedFamilies) {
  for (const char* name : {"NODE_ENV", "GIT_AUTHOR_NAME", "GIT_COMMITTER_DATE", "PYTHONUNBUFFERED", "NPM_TOKEN", "TZ",
                           "TMPDIR", "LC_CTYPE", "CI", "_X1", "CARGO_TARGET_DIR", "RUSTFLAGS", "MAKEFLAGS", "CFLAGS"}) {
    const std::vector<EnvVar> extras = {{name, "x"}};
    EXPECT_TRUE(child_env({}, extras).has_value()) << name;
  }
}

TEST(ChildEnv, RefusesMalformedAndRepeatedExtras_C7) {
  for (const std::string& name : {std::string(), std::string("A=B"), std::string("A\0B", 3), std::string("1A"),
                                  std::string("A B"), std::string("Ä"), std::string("A-B")}) {
    const std::vector<EnvVar> extras = {{name, "x"}};
    EXPECT_FALSE(child_env({}, extras).has_value()) << name;
  }
  const std::vector<EnvVar> nul = {{"A", std::string("x\0y", 3)}};
  EXPECT_FALSE(child_env({}, nul).has_value());
  const std::vector<EnvVar> twice = {{"A", "1"}, {"A", "2"}};
  EXPECT_FALSE(child_env({}, twice).has_value());
}

RC_GTEST_PROP(ChildEnv, NeverHoldsANameThatIsNeitherOneOfTheFourNorAnExtra_C7_C34, ()) {
  const auto word = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ABLDPATH_HOME019")));
  const auto named = [&](const std::string& prefix) {
    const auto name = rc::gen::map(word, [prefix](const std::string& rest) { return prefix + rest; });
    const auto var = rc::gen::build<EnvVar>(rc::gen::set(&EnvVar::name, name), rc::gen::set(&EnvVar::value, word));
    return rc::gen::uniqueBy<std::vector<EnvVar>>(var, [](const EnvVar& one) { return one.name; });
  };
  std::vector<EnvVar> base = *named("");
  const std::vector<EnvVar> hostile = hostile_base();
  base.insert(base.end(), hostile.begin(), hostile.end());
  const std::vector<EnvVar> extras = *named("X");

  const Result<std::vector<EnvVar>> env = child_env(base, extras);
  RC_ASSERT(env.has_value());
  std::set<std::string> allowed(kBaseEnvNames.begin(), kBaseEnvNames.end());
  for (const EnvVar& extra : extras) allowed.insert(extra.name);
  for (const EnvVar& one : *env) RC_ASSERT(allowed.contains(one.name));
  for (const EnvVar& extra : extras) RC_ASSERT(std::ranges::find(*env, extra) != env->end());
  RC_ASSERT(std::ranges::is_sorted(*env, {}, &EnvVar::name));
}

TEST(EnvFilter, NodeMayBeGivenSizesAndCertificatesButNoCode_C7) {
  for (const char* value : {"--max-old-space-size=4096", "--max_old_space_size=64 --no-warnings", "--trace-warnings",
                            "", "--experimental-vm-modules", "--unhandled-rejections=strict"}) {
    const std::vector<EnvVar> extras = {{"NODE_EXTRA_CA_CERTS", "/ca.pem"}, {"NODE_OPTIONS", value}};
    EXPECT_TRUE(child_env({}, extras)) << value;
  }
  for (const char* value :
       {"--require=x", "-r x", "--import=x", "--inspect", "--max-old-space-size=1 --require=x", "--cpu-prof",
        "--max-old-space-size=x", "--no-warnings\t--require=x", "\"--no-warnings\"", "--max-old-space-size",
        "--unhandled-rejections=--require", "--icu-data-dir=/x", "--openssl-config=/x", "--env-file=x"}) {
    const std::vector<EnvVar> extras = {{"NODE_OPTIONS", value}};
    EXPECT_FALSE(child_env({}, extras)) << value;
  }
}

}  // namespace
}  // namespace sallyport
