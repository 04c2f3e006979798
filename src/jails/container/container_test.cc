#include "jails/container/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sallyport::container {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

Plan plan() {
  Plan plan;
  plan.tool.name = "git";
  plan.argv = {"git", "log"};
  plan.env = {{"HOME", "/home/u"}, {"PATH", "/usr/bin"}};
  plan.repo = plan.cwd = "/src/repo";
  return plan;
}

Inputs inputs(ContainerEngine engine) {
  return {.engine = engine,
          .engine_arguments = {"-H", "unix:///x.sock"},
          .image = "sha256:abc",
          .name = "sallyport-1",
          .init = "/tmp/sallyport-1/init",
          .resolver = "/tmp/sallyport-1/resolv.conf",
          .argv = {"git", "log"},
          .exe_places = {"/usr/bin/git", "/bin/git"},
          .path = "/usr/bin:/bin",
          .view = {{.kind = ViewKind::kBind, .target = "/src/repo", .source = "/src/repo"},
                   {.kind = ViewKind::kBind, .target = "/out", .source = "/out", .access = RepoAccess::kWritable},
                   {.kind = ViewKind::kMask, .target = "/src/repo/secret", .source_is_directory = false}},
          .user = {.uid = 1000, .gid = 1000}};
}

class ContainerCommand : public testing::TestWithParam<ContainerEngine> {};
INSTANTIATE_TEST_SUITE_P(, ContainerCommand, testing::Values(ContainerEngine::kPodman, ContainerEngine::kDocker));

TEST_P(ContainerCommand, IsHardenedWhateverThePlanSays_C28) {
  const std::vector<std::string> command = render_command(plan(), inputs(GetParam()));
  EXPECT_THAT(command, IsSupersetOf({"--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges",
                                     "--read-only", "--pull=never", "--rm", "--user=1000:1000", "--ipc=private",
                                     "--pids-limit=4097", "--entrypoint=/.sallyport-init", "--log-driver=none"}));
  EXPECT_THAT(command, Not(Contains(HasSubstr("--memory"))));
  EXPECT_THAT(command, Not(Contains(HasSubstr("privileged"))));
  // The engine's own arguments come before its verb; the image comes after everything except our init's arguments.
  EXPECT_EQ(command[1], "-H");
  EXPECT_EQ(command[3], "run");
  EXPECT_EQ(command[command.size() - 2], "sha256:abc");
  EXPECT_EQ(command.back(), "f");
}

TEST_P(ContainerCommand, WritesOnlyWhatIsOpened) {
  const std::vector<std::string> command = render_command(plan(), inputs(GetParam()));
  const auto mount_of = [&](const std::string& target) {
    const auto found = std::ranges::find_if(
        command, [&](const std::string& word) { return word.find("target=" + target + ",") != word.npos; });
    return found == command.end() ? std::string() : *found;
  };
  EXPECT_THAT(mount_of("/src/repo"), testing::EndsWith(",readonly"));
  EXPECT_THAT(mount_of("/.sallyport-init"), testing::EndsWith(",readonly"));
  EXPECT_NE(mount_of("/out"), "");
  EXPECT_THAT(mount_of("/out"), Not(HasSubstr("readonly")));
  EXPECT_THAT(mount_of("/src/repo/secret"), HasSubstr("source=/dev/null,"));
}

TEST_P(ContainerCommand, LimitsAreAskedForAndCompared) {
  Plan limited = plan();
  limited.limits.memory = ByteCount{67108864 + 5};
  limited.limits.pids = 10;
  const Inputs in = inputs(GetParam());
  EXPECT_THAT(render_command(limited, in),
              IsSupersetOf({"--memory=67108864b", "--memory-swap=67108864b", "--pids-limit=11"}));
  const spawn::LaunchSpec inner = render_inner(limited, in);
  std::vector<std::string> compared;
  for (const spawn::RootOp& op : std::get<spawn::JailPlace>(inner.place).root_ops) compared.push_back(op.content);
  EXPECT_THAT(compared, testing::ElementsAre("67108864\n", "11\n"));
  const std::vector<Established> listed = establishes(limited, in, std::nullopt);
  EXPECT_THAT(listed, Contains(Established{Guarantee::kLimitMemory, Mechanism::kEngineCgroup}));
  EXPECT_THAT(establishes(plan(), in, std::nullopt),
              Not(Contains(Established{Guarantee::kLimitMemory, Mechanism::kEngineCgroup})));
}

TEST_P(ContainerCommand, CarriesHostsWhereTheyAreAllowed_C24) {
  Plan with_hosts = plan();
  with_hosts.allowed_hosts = {*parse_host_rule("host.test")};
  const Inputs in = inputs(GetParam());
  const Established carried{Guarantee::kNetEgressAllowlist, Mechanism::kConnectionsCarried};
  EXPECT_THAT(establishes(with_hosts, in, std::nullopt), Contains(carried));
  EXPECT_THAT(establishes(with_hosts, in, RunFacts{.connections_carried = true}), Contains(carried));
  // An init that did not report kCarriesThem carries no connections.
  for (const Established& one : establishes(with_hosts, in, RunFacts{})) {
    EXPECT_NE(one.guarantee, Guarantee::kNetEgressAllowlist);
    EXPECT_NE(one.guarantee, Guarantee::kNetIsolated);
  }
  const auto resolver = HasSubstr("target=/etc/resolv.conf,");
  EXPECT_THAT(render_command(with_hosts, in), Contains("--network=none"));
  EXPECT_THAT(render_command(with_hosts, in), Contains(resolver));
  EXPECT_THAT(render_command(plan(), in), Not(Contains(resolver)));
  EXPECT_THAT(render_command(plan(), in), Not(Contains(HasSubstr("--sysctl"))));
}

TEST_P(ContainerCommand, RefusesWhatAMountCannotSay) {
  EXPECT_TRUE(check(plan(), inputs(GetParam()).view));
  EXPECT_FALSE(check(plan(), {{.kind = ViewKind::kBind, .target = "/a,readonly=false", .source = "/a"}}));
}

TEST_P(ContainerCommand, TheToolsPathIsTheImages) {
  const spawn::LaunchSpec inner = render_inner(plan(), inputs(GetParam()));
  EXPECT_THAT(inner.env, testing::UnorderedElementsAre("HOME=/tmp/home", "PATH=/usr/bin:/bin"));
}

}  // namespace
}  // namespace sallyport::container
