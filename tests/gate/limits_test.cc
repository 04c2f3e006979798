// Limits whose verdicts come from the kernel.
#include <signal.h>

#include "gate/gate_fixture.h"
#include "os/cgroup.h"
#include "support/jails.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;

using LimitTest = EveryJailTest;

TEST_P(LimitTest, C20_memory_over_the_cgroup_limit_is_oom_killed_with_the_kernels_count) {
  if (const CgroupSupport support = probe_cgroups(); !support.memory.available) {
    GTEST_SKIP() << "no memory cgroup: " << support.memory.reason;
  }
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"eat_memory", "200"});
  EXPECT_EQ(exit_code(run(*gate, what, GetParam())), 0) << "positive control: without a limit it is fine";
  what.limits.memory = mebibytes(64);
  what.required = {Guarantee::kLimitMemory};
  const JailedSubprocessResult result = run(*gate, what, GetParam());
  ASSERT_TRUE(std::holds_alternative<OomKilled>(result.outcome)) << outcome_name(result.outcome);
  EXPECT_GE(std::get<OomKilled>(result.outcome).oom_kills, 1U);
  EXPECT_EQ(std::get<OomKilled>(result.outcome).limit_bytes, 64ULL << 20U);
  EXPECT_TRUE(result.receipt.has(Guarantee::kLimitMemory));
}

TEST_P(LimitTest, C20_a_kill_of_ours_or_of_the_tools_own_is_never_taken_for_oom) {
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec suicide = spec({"die_by_signal", "9"});
  JailedSubprocessSpec sleeper = spec({"sleep_forever"});
  sleeper.limits.wall = 300ms;
  if (probe_cgroups().memory.available) suicide.limits.memory = sleeper.limits.memory = mebibytes(64);
  EXPECT_TRUE(std::holds_alternative<Completed>(run(*gate, suicide, GetParam()).outcome));
  EXPECT_TRUE(std::holds_alternative<TimedOut>(run(*gate, sleeper, GetParam()).outcome));
}

TEST_P(LimitTest, processor_time_over_the_limit_ends_by_sigxcpu) {
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"burn_cpu", "1000000"});
  what.limits.cpu = 1s;
  const JailedSubprocessResult result = run(*gate, what, GetParam());
  ASSERT_TRUE(std::holds_alternative<Completed>(result.outcome)) << outcome_name(result.outcome);
  const auto* fate = std::get_if<Signal>(&std::get<Completed>(result.outcome).fate);
  ASSERT_NE(fate, nullptr);
  EXPECT_EQ(fate->number, SIGXCPU);
  EXPECT_TRUE(result.receipt.has(Guarantee::kLimitCpu));
}

// Each child alone stays below the limit, and below one second, the smallest RLIMIT_CPU. Together they exceed the limit.
TEST_P(LimitTest, processor_time_of_all_processes_together_is_bounded_where_a_cgroup_counts_it) {
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"burn_cpu", "250", "3"});
  EXPECT_EQ(exit_code(run(*gate, what, GetParam())), 0) << "positive control: without a limit it is fine";
  what.limits.cpu = 5s;
  EXPECT_EQ(exit_code(run(*gate, what, GetParam())), 0) << "and with one that is large enough";
  what.limits.cpu = 300ms;
  const JailedSubprocessResult result = run(*gate, what, GetParam());
  if (!RunCgroup::create({.account_cpu = true})) {
    EXPECT_EQ(exit_code(result), 0);
    EXPECT_EQ(mechanism_of(result, Guarantee::kLimitCpu), "rlimit per process");
    what.required = {Guarantee::kLimitCpu};
    const Result<JailedSubprocessResult> refused = gate->run(what, GetParam(), {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().as<GuaranteeUnavailable>(), nullptr) << refused.error().message;
    return;
  }
  EXPECT_TRUE(mechanism_of(result, Guarantee::kLimitCpu).starts_with("cgroup.v"));
  ASSERT_TRUE(std::holds_alternative<Completed>(result.outcome)) << outcome_name(result.outcome);
  const auto* fate = std::get_if<Signal>(&std::get<Completed>(result.outcome).fate);
  ASSERT_NE(fate, nullptr) << "the children used more together than the run was given";
  EXPECT_EQ(fate->number, SIGXCPU);
}

TEST_P(LimitTest, every_limit_at_once_is_kept_by_cgroups_where_there_are_any) {
  const CgroupSupport support = probe_cgroups();
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"burn_cpu", "1", "2"});
  what.limits.cpu = 5s;
  // Without cgroups there is none to ask for, and no mechanism either.
  if (support.memory.available) what.limits.memory = mebibytes(64);
  if (support.pids.available) what.limits.pids = 16;
  const JailedSubprocessResult result = run(*gate, what, GetParam());
  EXPECT_EQ(exit_code(result), 0);
  EXPECT_EQ(mechanism_of(result, Guarantee::kLimitMemory), support.memory.mechanism);
  EXPECT_EQ(mechanism_of(result, Guarantee::kLimitPids), support.pids.mechanism);
  EXPECT_TRUE(result.receipt.has(Guarantee::kLimitCpu));
}

TEST_P(LimitTest, C20_when_the_kernel_kills_a_child_the_tools_own_end_is_reported_too) {
  if (const CgroupSupport support = probe_cgroups(); !support.memory.available) {
    GTEST_SKIP() << "no memory cgroup: " << support.memory.reason;
  }
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"eat_memory", "200", "7"});
  EXPECT_EQ(exit_code(run(*gate, what, GetParam())), 7) << "positive control: without a limit nobody dies";
  what.limits.memory = mebibytes(64);
  const JailedSubprocessResult result = run(*gate, what, GetParam());
  ASSERT_TRUE(std::holds_alternative<OomKilled>(result.outcome)) << outcome_name(result.outcome);
  const OomKilled& oom = std::get<OomKilled>(result.outcome);
  EXPECT_GE(oom.oom_kills, 1U);
  ASSERT_TRUE(oom.fate.has_value());
  ASSERT_TRUE(std::holds_alternative<ExitCode>(*oom.fate));
  EXPECT_EQ(std::get<ExitCode>(*oom.fate).value, 7);
}

// Each child burns 600 ms, then we kill it. Only the jail's own init reaps it, so only init can count its time.
TEST_P(LimitTest, what_killed_children_used_is_counted) {
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"burn_cpu", "100000", "2"});
  what.limits.wall = 1200ms;
  const JailedSubprocessResult result = run(*gate, what, GetParam());
  ASSERT_TRUE(std::holds_alternative<TimedOut>(result.outcome)) << outcome_name(result.outcome);
  EXPECT_GE(result.usage.user + result.usage.system, 100ms);  // two would use two seconds; a busy machine gives less
}

TEST_P(LimitTest, C20_a_quota_kill_says_what_ended_it_not_what_is_left_afterwards) {
  if (GetParam() == JailKind::kNone) GTEST_SKIP() << "without a jail there is no scratch to bound";
  if (GetParam() == JailKind::kLandlock) GTEST_SKIP() << "without a mount of its own its scratch has no bound";
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"fill_scratch"});
  what.limits.disk = mebibytes(8);
  const JailedSubprocessResult result = run(*gate, what, GetParam());
  ASSERT_TRUE(std::holds_alternative<DiskQuotaExceeded>(result.outcome)) << outcome_name(result.outcome);
  const DiskQuotaExceeded& disk = std::get<DiskQuotaExceeded>(result.outcome);
  EXPECT_EQ(disk.quota_bytes, 8ULL << 20U);
  EXPECT_GE(disk.bytes_used, disk.quota_bytes / 2);
}

TEST_P(LimitTest, a_disk_limit_without_a_scratch_to_bound_is_refused) {
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"exit_with", "0"});
  what.limits.disk = mebibytes(8);
  const Result<JailedSubprocessResult> result = gate->run(what, GetParam(), {});
  EXPECT_EQ(result.has_value(), GetParam() != JailKind::kNone && GetParam() != JailKind::kLandlock);
}

INSTANTIATE_TEST_SUITE_P(gate, LimitTest, testing::ValuesIn(all_jails()), jail_name);

}  // namespace
}  // namespace sallyport::test
