#include "gate/resources.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "core/errors.h"
#include "os/test_dir.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;

std::optional<Mechanism> mechanism_of(const std::vector<Established>& established, Guarantee guarantee) {
  const auto found = std::ranges::find(established, guarantee, &Established::guarantee);
  return found == established.end() ? std::nullopt : std::optional(found->mechanism);
}

const ResourceLimit* rlimit_of(const Resources& resources, std::uint32_t resource) {
  const auto found = std::ranges::find(resources.rlimits, resource, &ResourceLimit::resource);
  return found == resources.rlimits.end() ? nullptr : &*found;
}

constexpr uid_t kPlainUser = 1000;

// A host that makes the cgroups which `grants` allows, and remembers what it was asked for.
class HostWithCgroups {
 public:
  using Grants = bool (*)(const CgroupLimits&);
  explicit HostWithCgroups(Grants grants, uid_t user = kPlainUser) : grants_(grants), user_(user) {}

  [[nodiscard]] Result<Resources> acquire(const Limits& limits, const std::vector<Guarantee>& required = {},
                                          const LimitsWanted& wanted = {}) {
    const auto make = [this](const CgroupLimits& group) -> Result<RunCgroup> {
      asked.push_back(group);
      if (!grants_(group)) return fail(system_error("make", "a cgroup", EROFS));
      // A cgroup of v1 without a directory: with empty limits, none is needed.
      return RunCgroup::create({}, {.mountinfo = empty_, .self_cgroup = empty_});
    };
    return acquire_resources(limits, required, wanted, {.make_cgroup = make, .user = user_});
  }

  std::vector<CgroupLimits> asked;

 private:
  TestDir dir_;
  const std::filesystem::path empty_ = dir_.file("empty", "");
  const Grants grants_;
  const uid_t user_;
};

bool grants_all(const CgroupLimits&) { return true; }
bool grants_none(const CgroupLimits&) { return false; }
bool grants_all_but_pids(const CgroupLimits& group) { return !group.pids_max; }

struct OneLimit {
  Guarantee guarantee;
  Limits limits;
};
const OneLimit kOneLimit[] = {{Guarantee::kLimitMemory, {.wall = 1s, .memory = mebibytes(64)}},
                              {Guarantee::kLimitPids, {.wall = 1s, .pids = 16}},
                              {Guarantee::kLimitCpu, {.wall = 1s, .cpu = 3s}}};
const Limits kAllLimits{.wall = 1s, .memory = mebibytes(64), .pids = 16, .cpu = 3s};

TEST(Resources, OfACallWithoutLimitsAreTheCoreFilesAlone) {
  const Result<Resources> resources = acquire_resources({.wall = 1s}, {}, {});
  ASSERT_TRUE(resources) << resources.error().message;
  ASSERT_EQ(resources->rlimits.size(), 1U);
  EXPECT_EQ(resources->rlimits.front().resource, static_cast<std::uint32_t>(RLIMIT_CORE));
  EXPECT_EQ(resources->rlimits.front().hard, 1U);
  EXPECT_TRUE(resources->established.empty());
  EXPECT_TRUE(resources->cgroups.empty());
}

// The host's own mechanisms keep the limits, whichever it has; the receipt names them and lists every requested limit.
TEST(Resources, EstablishEveryLimitThatWasAskedForOnThisHost) {
  const Limits limits{.wall = 1s, .memory = mebibytes(64), .cpu = 3s};
  const Result<Resources> resources = acquire_resources(limits, {}, {});
  ASSERT_TRUE(resources) << resources.error().message;
  const auto memory = mechanism_of(resources->established, Guarantee::kLimitMemory);
  ASSERT_TRUE(memory && mechanism_of(resources->established, Guarantee::kLimitCpu));
  EXPECT_EQ(resources->watch_memory, *memory == Mechanism::kWatch);
  EXPECT_EQ(resources->procs_fds().empty(), resources->cgroups.empty());
}

TEST(Resources, AreOneCgroupForAllLimitsWhereItCanBeMade) {
  HostWithCgroups host(grants_all);
  const Result<Resources> resources = host.acquire(kAllLimits, {}, {.own_processes = 2});
  ASSERT_TRUE(resources) << resources.error().message;
  ASSERT_EQ(host.asked.size(), 1U);
  EXPECT_EQ(host.asked.front().memory_bytes, count(mebibytes(64)));
  EXPECT_EQ(host.asked.front().pids_max, 18U) << "the jail's own processes are not the tool's";
  EXPECT_TRUE(host.asked.front().account_cpu);
  EXPECT_EQ(resources->cgroups.size(), 1U);
  EXPECT_EQ(resources->established, (std::vector<Established>{{Guarantee::kLimitMemory, Mechanism::kCgroupV1},
                                                              {Guarantee::kLimitPids, Mechanism::kCgroupV1},
                                                              {Guarantee::kLimitCpu, Mechanism::kCgroupV1}}));
  EXPECT_FALSE(resources->watch_memory);
  EXPECT_EQ(rlimit_of(*resources, RLIMIT_NPROC), nullptr);
}

TEST(Resources, OfOneLimitAreACgroupOfItsOwn) {
  for (const OneLimit& one : kOneLimit) {
    HostWithCgroups host(grants_all);
    const Result<Resources> resources = host.acquire(one.limits, {one.guarantee});
    ASSERT_TRUE(resources) << name_of(one.guarantee) << ": " << resources.error().message;
    EXPECT_EQ(resources->established, (std::vector<Established>{{one.guarantee, Mechanism::kCgroupV1}}));
    ASSERT_EQ(host.asked.size(), 1U) << name_of(one.guarantee);
    EXPECT_EQ(host.asked.front().memory_bytes.has_value(), one.guarantee == Guarantee::kLimitMemory);
    EXPECT_EQ(host.asked.front().pids_max.has_value(), one.guarantee == Guarantee::kLimitPids);
    EXPECT_EQ(host.asked.front().account_cpu, one.guarantee == Guarantee::kLimitCpu);
    EXPECT_FALSE(resources->watch_memory);
  }
}

TEST(Resources, WithoutACgroupAreAWatchAndRlimits) {
  HostWithCgroups host(grants_none);
  const Result<Resources> resources = host.acquire(kAllLimits);
  ASSERT_TRUE(resources) << resources.error().message;
  EXPECT_EQ(resources->established, (std::vector<Established>{{Guarantee::kLimitMemory, Mechanism::kWatch},
                                                              {Guarantee::kLimitPids, Mechanism::kRlimit},
                                                              {Guarantee::kLimitCpu, Mechanism::kRlimitPerProcess}}));
  EXPECT_TRUE(resources->watch_memory);
  EXPECT_TRUE(resources->cgroups.empty());
  const ResourceLimit* const processes = rlimit_of(*resources, RLIMIT_NPROC);
  ASSERT_NE(processes, nullptr);
  EXPECT_EQ(processes->soft, 17U) << "init, and those of the tool";
  EXPECT_EQ(processes->hard, 17U);
  const ResourceLimit* const time = rlimit_of(*resources, RLIMIT_CPU);
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(time->soft, 3U);
  EXPECT_EQ(time->hard, 4U);
  EXPECT_EQ(rlimit_of(*resources, RLIMIT_AS), nullptr);
}

// A host with some of the controllers: each limit by the strongest means that there is for it.
TEST(Resources, FallBackForEachLimitAlone) {
  HostWithCgroups host(grants_all_but_pids);
  const Result<Resources> resources = host.acquire(kAllLimits);
  ASSERT_TRUE(resources) << resources.error().message;
  EXPECT_EQ(resources->established, (std::vector<Established>{{Guarantee::kLimitMemory, Mechanism::kCgroupV1},
                                                              {Guarantee::kLimitPids, Mechanism::kRlimit},
                                                              {Guarantee::kLimitCpu, Mechanism::kCgroupV1}}));
  EXPECT_EQ(resources->cgroups.size(), 2U);
  EXPECT_FALSE(resources->watch_memory);
}

TEST(Resources, ThatAreRequiredAreNoFallback_C26) {
  for (const OneLimit& one : kOneLimit) {
    HostWithCgroups host(grants_none);
    EXPECT_TRUE(host.acquire(one.limits)) << name_of(one.guarantee);  // the control
    const Result<Resources> refused = host.acquire(one.limits, {one.guarantee});
    ASSERT_FALSE(refused) << name_of(one.guarantee);
    const auto* const unavailable = refused.error().as<GuaranteeUnavailable>();
    ASSERT_NE(unavailable, nullptr) << refused.error().message;
    EXPECT_EQ(unavailable->guarantee, one.guarantee);
    EXPECT_NE(refused.error().message.find("cannot make a cgroup"), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().hint, kNoCgroupHint);
    // A caller who requires only another limit is not refused because of this one.
    const Guarantee other = one.guarantee == Guarantee::kLimitMemory ? Guarantee::kLimitCpu : Guarantee::kLimitMemory;
    EXPECT_TRUE(host.acquire(one.limits, {other})) << name_of(one.guarantee);
  }
}

// Without a cgroup, a process limit counts only where the kernel counts this run apart from the user's other processes.
TEST(Resources, RefuseAProcessLimitThatWouldCountTheWholeUserOrNobody) {
  const Limits limits{.wall = 1s, .pids = 16};
  HostWithCgroups plain(grants_none);
  HostWithCgroups root(grants_none, 0);
  EXPECT_TRUE(plain.acquire(limits, {}, {.counted_apart = true}));  // the control
  for (const Result<Resources>& refused :
       {plain.acquire(limits, {}, {.counted_apart = false}), root.acquire(limits, {}, {.counted_apart = true})}) {
    ASSERT_FALSE(refused);
    ASSERT_NE(refused.error().as<GuaranteeUnavailable>(), nullptr) << refused.error().message;
    EXPECT_EQ(refused.error().as<GuaranteeUnavailable>()->guarantee, Guarantee::kLimitPids);
  }
  for (const uid_t user : {kPlainUser, uid_t{0}}) {
    HostWithCgroups with(grants_all, user);
    EXPECT_TRUE(with.acquire(limits, {}, {.counted_apart = false}))
        << "a cgroup counts the run, whichever user it runs as";
  }
}

// A caller who requires the limit is refused with each of these mechanisms; other callers are warned.
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
