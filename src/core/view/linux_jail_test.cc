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
  EXPECT_EQ(env_with(plans, own, without), (std::vector<std::string>{"A=1", "HOME=/tmp/home"}));
  EXPECT_EQ(env_with(plans, {}), (std::vector<std::string>{"A=1", "HOME=/me", "TMP=/mine"}));
}

TEST(HostFile, IsWhatIsExecutedAndNoFileOfAnImage) {
  const Executable hosts{.identity = BinaryIdentity{.path = "/usr/bin/git"}};
  const Result<const BinaryIdentity*> file = file_of_host(hosts, "mine");
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->path, "/usr/bin/git");
  const Executable images{.identity = ImageFile{.path = "git"}};
  const Result<const BinaryIdentity*> none = file_of_host(images, "mine");
  ASSERT_FALSE(none);
  ASSERT_NE(none.error().as<JailUnavailable>(), nullptr);
  EXPECT_EQ(none.error().as<JailUnavailable>()->jail, "mine");
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
