// The receipt's entries come from reported facts: it does not claim what a kernel lacked (C26).
#include "core/view/linux_jail.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sallyport {
namespace {

std::optional<Mechanism> means_of(const std::vector<Established>& established, Guarantee guarantee) {
  const auto found = std::ranges::find(established, guarantee, &Established::guarantee);
  return found == established.end() ? std::nullopt : std::optional(found->mechanism);
}

TEST(JailEstablishes, LandlockWhereItWasReportedAndAsFarAsItReaches_C26) {
  const Plan plan;
  const RunFacts landlocked{.landlocked = true};
  const auto everywhere = jail_establishes(plan, LandlockReach::kEverything, landlocked);
  EXPECT_EQ(means_of(everywhere, Guarantee::kFsReadonlySystem), Mechanism::kMountsAndLandlock);
  EXPECT_EQ(means_of(everywhere, Guarantee::kFsWriteConfined), Mechanism::kMountsAndLandlock);
  EXPECT_EQ(means_of(everywhere, Guarantee::kFsGitProtected), Mechanism::kMountsAndLandlock);
  const auto system = jail_establishes(plan, LandlockReach::kSystem, landlocked);
  EXPECT_EQ(means_of(system, Guarantee::kFsReadonlySystem), Mechanism::kMountsAndLandlock);
  EXPECT_EQ(means_of(system, Guarantee::kFsWriteConfined), Mechanism::kMounts);
  const auto without = jail_establishes(plan, LandlockReach::kEverything, RunFacts{});
  EXPECT_EQ(means_of(without, Guarantee::kFsReadonlySystem), Mechanism::kMounts);
  EXPECT_EQ(jail_establishes(plan, LandlockReach::kEverything), without) << "what would be is no more than that";
}

TEST(JailEstablishes, EgressAsTheNetworkWasReported_C24) {
  Plan plan;
  EXPECT_EQ(means_of(jail_establishes(plan, LandlockReach::kSystem, RunFacts{}), Guarantee::kNetIsolated),
            Mechanism::kNetworkNamespace);
  plan.allowed_hosts = {*parse_host_rule("host.test")};
  const auto means = [&plan](const std::optional<RunFacts>& facts) {
    return means_of(jail_establishes(plan, LandlockReach::kSystem, facts), Guarantee::kNetEgressAllowlist);
  };
  EXPECT_EQ(means(RunFacts{.ports_redirected = true}), Mechanism::kNetworkNamespaceAndNftables);
  EXPECT_EQ(means(RunFacts{}), Mechanism::kNetworkNamespaceUnnamed);
  EXPECT_EQ(means(std::nullopt), Mechanism::kNetworkNamespace);
  EXPECT_FALSE(means_of(jail_establishes(plan, LandlockReach::kSystem), Guarantee::kNetIsolated));
}

// The names of those guarantees whose entry differs between two lists of the same length.
std::vector<std::string_view> changed(const std::vector<Established>& before, const std::vector<Established>& after) {
  std::vector<std::string_view> names;
  if (before.size() != after.size()) return {"an entry more or less"};
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] != after[i]) names.push_back(name_of(before[i].guarantee));
  }
  return names;
}

TEST(JailEstablishes, ChangesWithEachFactOnlyInWhatTheFactDecides_C26) {
  Plan plan;
  plan.allowed_hosts = {*parse_host_rule("host.test")};
  const auto change = [&plan](const RunFacts& facts) {
    return changed(jail_establishes(plan, LandlockReach::kEverything, RunFacts{}),
                   jail_establishes(plan, LandlockReach::kEverything, facts));
  };
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(change({.landlocked = true}),
            (Names{"fs.readonly_system", "fs.write_confined", "fs.git_protected", "fs.repo_untouched"}));
  EXPECT_EQ(change({.ports_redirected = true}), Names{"net.egress_allowlist"});
  // For hold_by_carrying() and the receipt's own field.
  EXPECT_EQ(change({.connections_carried = true}), Names{});
  EXPECT_EQ(change({.run_as = UserIds{.uid = 7, .gid = 8}}), Names{});
}

TEST(HeldByCarrying, IsTheAllowlistOnlyIfTheRunReportedIt_C24) {
  Plan plan;
  plan.allowed_hosts = {*parse_host_rule("host.test")};
  const auto held = [&plan](const std::optional<RunFacts>& facts) {
    std::vector<Established> established = jail_establishes(plan, LandlockReach::kSystem, facts);
    hold_by_carrying(established, facts);
    return established;
  };
  const std::vector<Established> carried = held(RunFacts{.connections_carried = true});
  EXPECT_EQ(means_of(carried, Guarantee::kNetEgressAllowlist), Mechanism::kConnectionsCarried);
  EXPECT_EQ(means_of(held(std::nullopt), Guarantee::kNetEgressAllowlist), Mechanism::kConnectionsCarried);
  for (const RunFacts& facts : {RunFacts{}, RunFacts{.ports_redirected = true}}) {
    EXPECT_EQ(means_of(held(facts), Guarantee::kNetEgressAllowlist), std::nullopt);
    EXPECT_EQ(held(facts).size() + 1, carried.size()) << "and nothing else is dropped";
  }
}

TEST(HeldByCarrying, IsNothingWithoutHosts) {
  const std::vector<Established> isolated = jail_establishes(Plan{}, LandlockReach::kSystem, RunFacts{});
  std::vector<Established> held = isolated;
  hold_by_carrying(held, RunFacts{.connections_carried = true});
  EXPECT_EQ(held, isolated);
}

TEST(JailEstablishes, GitsFilesByWhoeverKeepsThem) {
  Plan plan;
  plan.repo_access = RepoAccess::kWritable;
  const auto means = [&plan] {
    return means_of(jail_establishes(plan, LandlockReach::kSystem, RunFacts{}), Guarantee::kFsGitProtected);
  };
  EXPECT_EQ(means(), Mechanism::kMountsAndReview);
  plan.git_access = GitAccess::kWritable;
  EXPECT_EQ(means(), std::nullopt);
}

TEST(JailEnvironment, HasTheJailsOwnInPlaceOfThePlans) {
  const std::vector<EnvVar> plans = {
      {.name = "A", .value = "1"}, {.name = "HOME", .value = "/me"}, {.name = "TMP", .value = "/mine"}};
  const std::vector<EnvVar> own = {{.name = "HOME", .value = "/tmp/home"}};
  const std::vector<std::string_view> without = {"TMP"};
  EXPECT_EQ(env_texts(env_with(plans, own, without)), (std::vector<std::string>{"A=1", "HOME=/tmp/home"}));
  EXPECT_EQ(env_texts(env_with(plans, {})), (std::vector<std::string>{"A=1", "HOME=/me", "TMP=/mine"}));
}

TEST(HostFile, IsWhatIsExecutedAndNoFileOfAnImage) {
  const Executable hosts{.identity = BinaryIdentity{.path = "/usr/bin/git"}};
  const Result<const BinaryIdentity*> file = file_of_host(hosts, JailKind("mine"));
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->path, "/usr/bin/git");
  const Executable images{.identity = ImageFile{.path = "git"}};
  const Result<const BinaryIdentity*> none = file_of_host(images, JailKind("mine"));
  ASSERT_FALSE(none);
  ASSERT_NE(none.error().as<JailUnavailable>(), nullptr);
  EXPECT_EQ(none.error().as<JailUnavailable>()->jail.name(), "mine");
}

// name_of() relies on the order of the table.
TEST(Mechanisms, StandInTheTableInTheEnumsOrder) {
  for (std::size_t i = 0; i < kMechanisms.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kMechanisms[i].mechanism), i);
    EXPECT_FALSE(kMechanisms[i].name.empty());
  }
  EXPECT_EQ(kMechanisms.size(), static_cast<std::size_t>(Mechanism::kJailsOwn) + 1);
}

}  // namespace
}  // namespace sallyport
