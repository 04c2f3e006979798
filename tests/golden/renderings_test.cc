// The bwrap argv and the native jail's steps, as on file (C15, C22).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "golden/renderings.h"

namespace sallyport::golden {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::IsSupersetOf;

struct Named {
  std::string name;
  Scene scene;
};
void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }

Scene writable_with_extras() {
  Scene scene = plain_scene();
  scene.spec.repo_access = RepoAccess::kWritable;
  // One of each kind, also a protected file inside what is writable, and names that look like options or hold spaces.
  scene.spec.extra_read_only = {"/srv/rules", "/src/theirs/.git/hooks/pre-commit.file", "/srv/a b/--bind"};
  scene.spec.extra_read_write = {"/srv/out"};
  return scene;
}

Scene limited() {
  Scene scene = plain_scene();
  scene.spec.limits.memory = mebibytes(512);
  scene.spec.limits.pids = 128;
  scene.spec.limits.cpu = 30s;
  scene.spec.limits.disk = mebibytes(256);
  return scene;
}

Scene repo_below_work() {
  Scene scene = plain_scene();
  scene.spec.repo = std::string(kJailRepo) + "/theirs";
  scene.spec.cwd = std::string(kJailRepo) + "/theirs";
  return scene;
}

Scene tool_outside_the_system() {
  Scene scene = plain_scene();
  scene.tool_path = "/home/user/bin/jq";
  return scene;
}

const Named kScenes[] = {{"default", plain_scene()},
                         {"writable_with_extras", writable_with_extras()},
                         {"limited", limited()},
                         {"repo_below_work", repo_below_work()},
                         {"tool_outside_the_system", tool_outside_the_system()}};

class Golden : public testing::TestWithParam<Named> {
 protected:
  [[nodiscard]] std::string file(std::string_view what) const { return std::string(what) + "_" + GetParam().name; }
  Rendering rendering_ = render(GetParam().scene);
};

TEST_P(Golden, BwrapArgvIsTheOneOnFile_C15) {
  expect_as_on_file(file("bwrap_argv"), argv_text(rendering_.bwrap));
  expect_as_on_file(file("bwrap_descriptors"), descriptors_text(rendering_.bwrap));
  expect_as_on_file(file("bwrap_inside"), launch_text(rendering_.bwrap_inner));
}

TEST_P(Golden, NativeStepsAreTheOnesOnFile_C15) { expect_as_on_file(file("native"), launch_text(rendering_.native)); }

TEST_P(Golden, LandlockPlacesAreTheOnesOnFile_C40) { expect_as_on_file(file("landlock"), places_text(rendering_)); }

TEST_P(Golden, TheBundleIsTheOneOnFile_C40) {
  expect_as_on_file(file("oci"), bundle_text(rendering_.oci));
  expect_as_on_file(file("gvisor"), bundle_text(rendering_.gvisor));
  expect_as_on_file(file("oci_inside"), launch_text(rendering_.oci_inner));
}

TEST_P(Golden, TheEnginesCommandLineIsTheOneOnFile_C28_C40) {
  expect_as_on_file(file("podman"), bundle_text(rendering_.podman));
  expect_as_on_file(file("docker"), bundle_text(rendering_.docker));
  expect_as_on_file(file("container_inside"), launch_text(rendering_.container_inner));
}

TEST_P(Golden, SandboxProfileIsTheOneOnFile_C40) {
  expect_as_on_file(file("sandbox_profile"), profile_text(rendering_.sandbox));
}

INSTANTIATE_TEST_SUITE_P(, Golden, testing::ValuesIn(kScenes), [](const auto& test) { return test.param.name; });

// The engines are the only wrappers whose command line depends on the allowed hosts.
TEST(EnginesCommandLine, WithHostsIsTheOneOnFile_C24_C40) {
  Scene scene = plain_scene();
  scene.spec.allowed_hosts = {*parse_host_rule("host.test"), *parse_host_rule("other.test:8443")};
  expect_as_on_file("podman_with_hosts", bundle_text(render(scene).podman));
  expect_as_on_file("docker_with_hosts", bundle_text(render(scene).docker));
}

// The pairs of an option and what follows it, to look for in an argv.
std::vector<std::pair<std::string, std::string>> pairs_of(const std::vector<std::string>& argv) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i + 1 < argv.size(); ++i) pairs.emplace_back(argv[i], argv[i + 1]);
  return pairs;
}

std::vector<std::string> targets_of(const std::vector<std::string>& argv, std::string_view option) {
  std::vector<std::string> targets;
  for (std::size_t i = 0; i + 2 < argv.size(); ++i) {
    if (argv[i] == option) targets.push_back(argv[i + 2]);
  }
  return targets;
}

TEST(BwrapArgv, CarriesTheFlagsOfTheContract_C15_C22) {
  const bwrap::Command read_only = render(plain_scene()).bwrap;
  EXPECT_THAT(read_only.argv, IsSupersetOf({"--unshare-all", "--new-session", "--die-with-parent"}));
  EXPECT_THAT(pairs_of(read_only.argv), Contains(std::pair("--tmpfs", "/tmp")));
  EXPECT_THAT(targets_of(read_only.argv, "--ro-bind"), IsSupersetOf({"/usr", "/src/theirs", "/work"}));
  // Nothing of the host is writable unless it was asked for; scratch is the tmpfs.
  EXPECT_THAT(targets_of(read_only.argv, "--bind"), testing::IsEmpty());
  ASSERT_TRUE(read_only.with_network);
  EXPECT_EQ(read_only.argv.at(read_only.with_network->at), "--unshare-net");
  EXPECT_EQ(read_only.with_network->word, "--share-net") << "when the worker could make its network";
  const bwrap::Command writable = render(writable_with_extras()).bwrap;
  EXPECT_THAT(targets_of(writable.argv, "--bind"), IsSupersetOf({"/src/theirs", "/work", "/srv/out"}));
  EXPECT_THAT(targets_of(writable.argv, "--ro-bind"),
              IsSupersetOf({"/srv/rules", "/src/theirs/.git/hooks/pre-commit.file"}));
}

// One capability for our init, no new privileges, and a namespace of each kind except network, which we made already. The
// caller is the only user of the host that is mapped.
TEST(OciBundle, CarriesTheLocksOfTheContract_C22) {
  const Lines text = render(plain_scene()).oci;
  const auto config_starts = std::ranges::find(text, "{");
  const auto config_ends = std::ranges::find(text, "}");
  std::string config;
  for (auto line = config_starts; line != text.end() && line <= config_ends; ++line) config += *line;
  const auto json = nlohmann::json::parse(config);
  EXPECT_EQ(json["process"]["noNewPrivileges"], true);
  EXPECT_EQ(json["root"]["readonly"], true);
  // For our init alone, which needs it to enter a user namespace of its own.
  EXPECT_EQ(json["process"]["capabilities"]["bounding"].dump(), R"(["CAP_SETFCAP"])");
  EXPECT_TRUE(json["process"]["capabilities"]["ambient"].empty());
  EXPECT_EQ(json["linux"]["namespaces"].size(), 6U);
  EXPECT_EQ(json["linux"]["uidMappings"].dump(), R"([{"containerID":0,"hostID":1234,"size":1}])");
  for (const auto& mount : json["mounts"]) {
    if (mount["type"] != "bind") continue;
    EXPECT_THAT(mount["options"], Contains("rro")) << mount.dump();
  }
}

TEST(OciBundle, RefusesNamesThatJsonCannotSay) {
  const std::vector<ViewEntry> good = {{.kind = ViewKind::kBind, .target = "/src/\xc3\xa4", .source = "/src/\xc3\xa4"}};
  const std::vector<ViewEntry> bad = {{.kind = ViewKind::kBind, .target = "/src/\xe4", .source = "/src/\xe4"}};
  EXPECT_TRUE(oci::check_names(good));
  EXPECT_FALSE(oci::check_names(bad));
}

TEST(Difference, NamesWhatIsGoneAndWhatIsNew) {
  EXPECT_EQ(difference({"a", "b", "c"}, {"a", "b", "c"}), "");
  EXPECT_EQ(difference({"a", "b", "c"}, {"a", "x", "c", "d"}), "- b\n+ x\n+ d\n");
  EXPECT_EQ(difference({}, {"a"}), "+ a\n");
}

}  // namespace
}  // namespace sallyport::golden
