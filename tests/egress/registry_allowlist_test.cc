// Asking the operator's own npm for its registry (C24), and never the repo's.
#include "sallyport/registry_allowlist.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "egress/upstream_address.h"
#include "support/installed.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

class OperatorsRegistry : public testing::Test {
 protected:
  OperatorsRegistry() {
    for (const char* name : {"repo", "home"}) fs::create_directory(dir_ / name);
    write_file(dir_ / "repo/package.json", "{}");
    write_file(dir_ / "repo/.npmrc", "registry=https://elsewhere.test/\n");
  }

  [[nodiscard]] GateConfig config() const {
    return {.repo = dir_ / "repo",
            .search_path = {"/usr/bin", "/bin"},
            .base_env = {{"PATH", "/usr/bin:/bin"}, {"HOME", (dir_ / "home").string()}}};
  }
  [[nodiscard]] Result<RegistryAllowlist> ask(std::string_view npmrc) const {
    write_file(dir_ / "home/.npmrc", npmrc);
    return RegistryAllowlist::of_npm(config());
  }

  TempDir dir_;
};

TEST_F(OperatorsRegistry, IsTheOneOfTheirOwnNpmrcAndNeverOfTheRepo_C24) {
  const Result<RegistryAllowlist> found = ask("registry=https://mirror.test:8443/npm/\n");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->registry, "https://mirror.test:8443/npm/");
  ASSERT_EQ(found->hosts.size(), 1u);
  EXPECT_EQ(host_rule_text(found->hosts[0]), "mirror.test:8443,class=any");
  // It was there to be found: npm started in the repo takes it.
  const ProgramResult careless =
      run_program({"/usr/bin/npm", "config", "get", "registry"},
                  {.cwd = dir_ / "repo",
                   .environment = Environment{{"PATH", "/usr/bin:/bin"}, {"HOME", (dir_ / "home").string()}}});
  EXPECT_EQ(careless.stdout_bytes, "https://elsewhere.test/\n");
}

TEST_F(OperatorsRegistry, LeavesNothingInTheirHome_C24) {
  ASSERT_TRUE(ask("registry=https://mirror.test/\n"));
  std::vector<std::string> left;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(dir_ / "home")) {
    if (entry.is_regular_file()) left.push_back(entry.path().filename());
  }
  EXPECT_EQ(left, std::vector<std::string>{".npmrc"});
}

TEST_F(OperatorsRegistry, WithoutANameIsATypedErrorWithTheOptionThatHelps_C24) {
  const Result<RegistryAllowlist> found = ask("registry=http://127.0.0.1:4873/\n");
  ASSERT_FALSE(found);
  ASSERT_NE(found.error().as<InvalidRequest>(), nullptr);
  EXPECT_EQ(found.error().as<InvalidRequest>()->field, "registry");
  EXPECT_NE(found.error().hint.find("`allowed_hosts` NAME:4873=127.0.0.1:4873"), std::string::npos)
      << found.error().hint;
}

TEST_F(OperatorsRegistry, IsNotAskedOfAHomeInsideTheRepo_C24) {
  GateConfig hostile = config();
  hostile.repo = dir_.path();
  const Result<RegistryAllowlist> found = RegistryAllowlist::of_npm(hostile);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().as<InvalidRequest>(), nullptr);
}

TEST_F(OperatorsRegistry, IsNotAskedOfAnNpmInsideTheRepo_C24) {
  write_file(dir_ / "repo/npm", "#!/usr/bin/node\nconsole.log('https://elsewhere.test/')\n");
  fs::permissions(dir_ / "repo/npm", fs::perms(0755));
  GateConfig hostile = config();
  hostile.search_path.insert(hostile.search_path.begin(), dir_ / "repo");
  const Result<RegistryAllowlist> found = RegistryAllowlist::of_npm(hostile);
  ASSERT_FALSE(found) << found->registry;
  EXPECT_NE(found.error().as<UntrustedToolError>(), nullptr) << found.error().message;
}

TEST_F(OperatorsRegistry, NeedsNpmInTheClosedSet_C2_C24) {
  GateConfig narrow = config();
  narrow.allowlist = Allowlist::from_policy("schema = \"sallyport.policy/1\"\n", "nothing").value();
  const Result<RegistryAllowlist> found = RegistryAllowlist::of_npm(narrow);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().as<DisallowedSubprocessError>(), nullptr) << found.error().message;
}

TEST_F(OperatorsRegistry, IsGivenToNpmAndToNoOtherTool_C24) {
  const RegistryAllowlist registry{.registry = "https://mirror.test/", .hosts = {*parse_host_rule("mirror.test")}};
  JailedSubprocessSpec npm{.argv = {"npm", "install"}};
  registry.apply_to(npm);
  EXPECT_EQ(npm.argv, (std::vector<std::string>{"npm", "--registry=https://mirror.test/", "install"}));
  EXPECT_EQ(npm.allowed_hosts, registry.hosts);
  JailedSubprocessSpec git{.argv = {"git", "status"}};
  registry.apply_to(git);
  EXPECT_EQ(git.argv, (std::vector<std::string>{"git", "status"}));
}

TEST_F(OperatorsRegistry, IsPartOfWhatExplainShows_C24) {
  write_file(dir_ / "home/.npmrc", "registry=http://mirror.test:4873/\n");
  const ProgramResult result =
      run_program({sallyport_binary(), "explain", "--json", "--allow-registry", "--repo", dir_ / "repo", "npm", "ci"},
                  {.cwd = dir_ / "repo",
                   .environment = Environment{{"PATH", "/usr/bin:/bin"}, {"HOME", (dir_ / "home").string()}}});
  const nlohmann::json record = nlohmann::json::parse(result.stdout_bytes, nullptr, false);
  ASSERT_TRUE(record.is_object() && record.contains("plan")) << result.stdout_bytes << result.stderr_bytes;
  EXPECT_EQ(record["plan"]["allowed_hosts"], nlohmann::json::array({"mirror.test:4873,class=any"}));
  nlohmann::json argv = record["plan"]["argv"];
  EXPECT_TRUE(argv[1].get<std::string>().starts_with("--globalconfig=/")) << argv;
  argv.erase(1);
  EXPECT_EQ(argv, nlohmann::json::array({"npm", "--ignore-scripts", "--registry=http://mirror.test:4873/", "ci"}));
}

TEST(PrivateRule, OpensPrivateNetworksButNoMetadataService_C24) {
  const std::vector<IpAddress> own = {IpAddress::v4(203, 0, 112, 7)};
  const auto usable = [&](std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, bool too) {
    const std::vector<IpAddress> found = {IpAddress::v4(a, b, c, d)};
    return !vet_addresses(found, own, {.may_be_private = too}).usable.empty();
  };
  for (const bool too : {false, true}) {
    EXPECT_EQ(usable(10, 1, 2, 3, too), too);
    EXPECT_EQ(usable(192, 168, 0, 1, too), too);
    EXPECT_EQ(usable(127, 0, 0, 1, too), too);
    EXPECT_EQ(usable(203, 0, 112, 7, too), too) << "this machine's own";
    EXPECT_FALSE(usable(169, 254, 169, 254, too));
    EXPECT_FALSE(usable(169, 254, 1, 1, too));
    EXPECT_FALSE(usable(224, 0, 0, 1, too));
    EXPECT_TRUE(usable(203, 0, 112, 8, too));
  }
}

}  // namespace
}  // namespace sallyport::test
