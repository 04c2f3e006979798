#include "gate/resources.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace sallyport {
namespace {

using namespace std::chrono_literals;

std::optional<Mechanism> mechanism_of(const std::vector<Established>& established, Guarantee guarantee) {
  const auto found = std::ranges::find(established, guarantee, &Established::guarantee);
  return found == established.end() ? std::nullopt : std::optional(found->mechanism);
}

TEST(Resources, OfACallWithoutLimitsAreTheCoreFilesAlone) {
  const Result<Resources> resources = acquire_resources({.wall = 1s}, {}, {});
  ASSERT_TRUE(resources) << resources.error().message;
  ASSERT_EQ(resources->rlimits.size(), 1U);
  EXPECT_EQ(resources->rlimits.front().resource, static_cast<std::uint32_t>(RLIMIT_CORE));
  EXPECT_EQ(resources->rlimits.front().hard, 1U);
  EXPECT_TRUE(resources->established.empty());
  EXPECT_TRUE(resources->cgroups.empty());
}

// By whichever means this host has; the receipt names the means and lists every requested limit.
TEST(Resources, EstablishEveryLimitThatWasAskedFor) {
  const Limits limits{.wall = 1s, .memory = mebibytes(64), .cpu = 3s};
  const Result<Resources> resources = acquire_resources(limits, {}, {});
  ASSERT_TRUE(resources) << resources.error().message;
  const auto memory = mechanism_of(resources->established, Guarantee::kLimitMemory);
  const auto cpu = mechanism_of(resources->established, Guarantee::kLimitCpu);
  ASSERT_TRUE(memory && cpu);
  const bool by_cgroup = !resources->cgroups.empty();
  EXPECT_EQ(*memory == Mechanism::kWatch, !by_cgroup);
  EXPECT_EQ(resources->watch_memory, !by_cgroup);
  EXPECT_EQ(*cpu == Mechanism::kRlimitPerProcess, !by_cgroup);
  EXPECT_EQ(resources->procs_fds().empty(), !by_cgroup);
  const auto of_cpu =
      std::ranges::find(resources->rlimits, static_cast<std::uint32_t>(RLIMIT_CPU), &ResourceLimit::resource);
  ASSERT_NE(of_cpu, resources->rlimits.end());
  EXPECT_EQ(of_cpu->soft, 3U);
  EXPECT_EQ(of_cpu->hard, 4U);
}

// Without a cgroup, a process limit counts only where the kernel counts this run apart from the user's other processes.
TEST(Resources, RefuseAProcessLimitThatWouldCountTheWholeUser) {
  const Limits limits{.wall = 1s, .pids = 16};
  const Result<Resources> unjailed = acquire_resources(limits, {}, {.counted_apart = false});
  const Result<Resources> jailed = acquire_resources(limits, {}, {.counted_apart = true});
  const bool has_cgroup = unjailed && !unjailed->cgroups.empty();
  if (has_cgroup) {
    EXPECT_EQ(unjailed->cgroups.size(), 1U);
    EXPECT_TRUE(jailed.has_value());
  } else {
    ASSERT_FALSE(unjailed);
    EXPECT_NE(unjailed.error().as<GuaranteeUnavailable>(), nullptr);
    EXPECT_EQ(jailed.has_value(), ::geteuid() != 0);
  }
}

// Each that a caller who requires the limit is refused for: who does not require it is warned.
TEST(Resources, ThatAreWeakerThanACgroupAreWarnedOf) {
  for (const Mechanism mechanism : {Mechanism::kWatch, Mechanism::kRlimit, Mechanism::kRlimitPerProcess}) {
    EXPECT_TRUE(is_weaker_than_cgroup(mechanism)) << name_of(mechanism);
  }
  for (const Mechanism mechanism : {Mechanism::kCgroupV1, Mechanism::kCgroupV2}) {
    EXPECT_FALSE(is_weaker_than_cgroup(mechanism)) << name_of(mechanism);
  }
}

TEST(Resources, ThatAreOnlyExpectedNameBothWays) {
  const std::vector<Established> expected = expected_limits({.wall = 1s, .memory = mebibytes(1), .pids = 4, .cpu = 1s});
  EXPECT_EQ(mechanism_of(expected, Guarantee::kLimitMemory), Mechanism::kCgroupOrWatch);
  EXPECT_EQ(mechanism_of(expected, Guarantee::kLimitPids), Mechanism::kCgroupOrRlimit);
  EXPECT_EQ(mechanism_of(expected, Guarantee::kLimitCpu), Mechanism::kCgroupOrRlimitPerProcess);
  EXPECT_TRUE(expected_limits({.wall = 1s}).empty());
}

}  // namespace
}  // namespace sallyport
