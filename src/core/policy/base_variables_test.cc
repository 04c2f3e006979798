#include "core/policy/base_variables.h"

#include <gtest/gtest.h>

namespace sallyport {
namespace {

namespace fs = std::filesystem;

decltype(OperatorNpm::variable) variables(std::string name, std::string value) {
  return [name = std::move(name), value = std::move(value)](const std::string& asked) {
    return asked == name ? std::optional(value) : std::nullopt;
  };
}

TEST(GateConfigOf, TakesFromTheEnvironmentWhatTheGateNeedsAndNothingElse_C7) {
  const GateConfig config = gate_config_of({.path = "/a:rel::/b",
                                            .home = "/h",
                                            .lang = {},
                                            .lc_all = "C",
                                            .xdg_cache_home = "/x",
                                            .variable = variables("NPM_CONFIG_REGISTRY", "https://registry.test/"),
                                            .current_directory = "/here"},
                                           "/repo");
  EXPECT_EQ(config.repo, "/repo");
  EXPECT_EQ(config.search_path, (std::vector<fs::path>{"/a", "/b"}));
  EXPECT_EQ(config.base_env, (std::vector<EnvVar>{{"PATH", "/a:rel::/b"}, {"HOME", "/h"}, {"LC_ALL", "C"}}));
  EXPECT_EQ(config.cache_dir, "/x/sallyport");
  EXPECT_EQ(config.npm.registry, "https://registry.test/");
  EXPECT_EQ(config.npm.npmrc, "");
  EXPECT_FALSE(config.policy);
  EXPECT_EQ(config.allowlist.canonical_text(), Allowlist::builtin().canonical_text());
}

TEST(GateConfigOf, AFileOfNpmsIsNamedFromWhereWeAre) {
  for (const char* name : {"npm_config_userconfig", "NPM_CONFIG_USERCONFIG"}) {
    const auto npmrc = [&](const char* file) {
      return gate_config_of({.variable = variables(name, file), .current_directory = "/here"}, "/repo").npm.npmrc;
    };
    EXPECT_EQ(npmrc("ci.npmrc"), "/here/ci.npmrc") << name;
    EXPECT_EQ(npmrc("/etc/ci.npmrc"), "/etc/ci.npmrc") << name;
    EXPECT_EQ(npmrc(""), "") << name;
  }
}

TEST(GateConfigOf, ARegistryThatAPackageManagerSetForItsScriptsIsNotTheOperators) {
  EXPECT_EQ(gate_config_of({.variable = variables("npm_config_registry", "https://repo.test/")}, "/r").npm.registry,
            "");
}

}  // namespace
}  // namespace sallyport
