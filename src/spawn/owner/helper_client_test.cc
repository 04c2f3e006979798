// A real helper, driven by hand: what it reports, and how it and its runs end.
#include "spawn/owner/helper_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "os/pipe.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::spawn {
namespace {

class HelperClientTest : public testing::Test {
 protected:
  // Runs /bin/sh, which every host has; the shell is the tool, and reads nothing but its arguments.
  [[nodiscard]] LaunchSpec tool(const std::string& script) const {
    LaunchSpec spec;
    spec.argv = {"sh", "-c", script};
    spec.place = NoJailPlace{.exe_fd = exe_.get(), .cwd_fd = cwd_.get()};
    return spec;
  }
  [[nodiscard]] Stdio null_streams() const { return {.in = null_.get(), .out = null_.get(), .err = null_.get()}; }

  // nullopt: the channel is closed.
  static std::optional<wire::Report> next_report(const Started& started) {
    wire::Report report{};
    pollfd ready{started.channel.get(), POLLIN, 0};
    if (::poll(&ready, 1, 30000) <= 0) return std::nullopt;
    const ssize_t size = ::recv(started.channel.get(), &report, sizeof report, 0);
    return size == sizeof report ? std::optional(report) : std::nullopt;
  }

  const UniqueFd exe_{::open("/bin/sh", O_PATH | O_CLOEXEC)};
  const UniqueFd cwd_{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  const UniqueFd null_{::open("/dev/null", O_RDWR | O_CLOEXEC)};
};

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

TEST_F(HelperClientTest, ReportsThatTheToolStartedAndHowItEnded) {
  HelperClient helper;
  EXPECT_EQ(helper.helper_pid(), 0) << "no process before there is work";
  const Result<Started> started = helper.submit(tool("exit 7"), null_streams());
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_FALSE(started->init) << "a worker is the helper's child, not ours";
  const auto first = next_report(*started);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, wire::ReportKind::kStarted);
  const auto last = next_report(*started);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->kind, wire::ReportKind::kExited);
  EXPECT_EQ(WEXITSTATUS(last->wait_status), 7);
  EXPECT_FALSE(next_report(*started)) << "the end of the channel is the last thing";
}

TEST_F(HelperClientTest, ServesManyRunsWithOneHelper) {
  HelperClient helper;
  ASSERT_TRUE(helper.submit(tool("exit 0"), null_streams()));
  const pid_t pid = helper.helper_pid();
  for (int i = 0; i < 5; ++i) {
    const Result<Started> started = helper.submit(tool("exit 0"), null_streams());
    ASSERT_TRUE(started);
    EXPECT_TRUE(next_report(*started));
  }
  EXPECT_EQ(helper.helper_pid(), pid);
}

TEST_F(HelperClientTest, ReportsTheStepAtWhichAToolCouldNotBeStarted) {
  HelperClient helper;
  LaunchSpec spec = tool("exit 0");
  spec.fail_at_for_tests = wire::Stage::kNoNewPrivs;
  const Result<Started> started = helper.submit(spec, null_streams());
  ASSERT_TRUE(started);
  const auto report = next_report(*started);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kind, wire::ReportKind::kFailed);
  EXPECT_EQ(report->stage, wire::Stage::kNoNewPrivs);
  EXPECT_EQ(report->error, EIO);
}

TEST_F(HelperClientTest, KillsARunWhoseChannelIsClosed) {
  HelperClient helper;
  Pipe alive = std::move(*make_pipe());
  Result<Started> started = helper.submit(tool("sleep 600 & sleep 600"),
                                          {.in = null_.get(), .out = alive.write_end.get(), .err = null_.get()});
  ASSERT_TRUE(started);
  ASSERT_TRUE(next_report(*started));
  alive.write_end.reset();
  pollfd end{alive.read_end.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&end, 1, 0), 0) << "the control: somebody holds the other end";
  started->channel.reset();
  EXPECT_EQ(::poll(&end, 1, 30000), 1) << "everybody who held it is dead";
}

TEST_F(HelperClientTest, StartsAnotherHelperWhenOneWasKilled) {
  HelperClient helper;
  ASSERT_TRUE(helper.submit(tool("exit 0"), null_streams()));
  const pid_t first = helper.helper_pid();
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  siginfo_t end{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(first), &end, WEXITED | WNOWAIT), 0) << "it is dead, and not reaped yet";
  const Result<Started> started = helper.submit(tool("exit 3"), null_streams());
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_NE(helper.helper_pid(), first);
  ASSERT_TRUE(next_report(*started));
  const auto last = next_report(*started);
  ASSERT_TRUE(last);
  EXPECT_EQ(WEXITSTATUS(last->wait_status), 3);
}

TEST_F(HelperClientTest, AnAbandonedHelperIsGoneWithItsRuns) {
  HelperClient helper;
  const Result<Started> started = helper.submit(tool("sleep 600"), null_streams());
  ASSERT_TRUE(started);
  ASSERT_TRUE(next_report(*started));
  const pid_t pid = helper.helper_pid();
  helper.abandon();
  EXPECT_EQ(helper.helper_pid(), 0);
  EXPECT_TRUE(is_gone(pid));
  EXPECT_FALSE(next_report(*started)) << "nobody reports any more";
}

TEST_F(HelperClientTest, ItsEndWaitsForTheHelpersEnd) {
  pid_t pid = 0;
  {
    HelperClient helper;
    ASSERT_TRUE(helper.start_ahead());
    pid = helper.helper_pid();
    ASSERT_GT(pid, 0);
    EXPECT_FALSE(is_gone(pid)) << "the control";
  }
  EXPECT_TRUE(is_gone(pid)) << "and reaped, so it is no zombie either";
}

TEST_F(HelperClientTest, RefusesMoreDescriptorsThanARequestHoldsBeforeAnythingStarts) {
  HelperClient helper;
  LaunchSpec spec = tool("exit 0");
  spec.passed_fds.assign(wire::kMaxPassedFds + 1, null_.get());
  EXPECT_FALSE(helper.submit(spec, null_streams()));
  spec.passed_fds.clear();
  spec.cgroup_procs_fds.assign(wire::kMaxCgroups + 1, null_.get());
  EXPECT_FALSE(helper.submit(spec, null_streams()));
  EXPECT_EQ(helper.helper_pid(), 0);
}

TEST_F(HelperClientTest, RefusesARunThatDoesNotFitTheShapeOfItsJails) {
  for (const wire::HelperKind kind : {wire::HelperKind::kInits, wire::HelperKind::kOneRun}) {
    HelperClient helper(kind, [] { return JailShape{}; });
    EXPECT_FALSE(helper.submit(tool("exit 0"), null_streams())) << "it has no jail at all";
    EXPECT_EQ(helper.helper_pid(), 0);
  }
}

TEST_F(HelperClientTest, TheSupplyTakesAWorkerForARunWithoutAJail) {
  JailSupply supply({.base = [] { return JailShape{}; }});
  const Result<StartedRun> started = supply.start(tool("exit 0"), null_streams());
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_FALSE(started->built_ahead);
  EXPECT_EQ(started->helper->helper_pid(), supply.helper_pid_for_tests());
  const auto report = next_report(started->run);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kind, wire::ReportKind::kStarted);
}

LaunchSpec jail_spec() {
  LaunchSpec spec;
  spec.argv = {"sh"};
  spec.place = JailPlace{.cwd = "/"};
  return spec;
}

TEST_F(HelperClientTest, TheSupplyGoesOnToAFreshJailWhenAWarmOneIsUnsound) {
  JailSupply supply({.base = [] { return JailShape{}; }, .warm_jails = 1});
  supply.fail_warm_jails_at_for_tests(wire::Stage::kNewRoot);
  ASSERT_TRUE(supply.keep_warm(jail_spec()));
  const Result<StartedRun> warm = supply.start(jail_spec(), null_streams());
  ASSERT_TRUE(warm) << warm.error().message;
  EXPECT_TRUE(warm->built_ahead);
  const auto unsound = next_report(warm->run);
  ASSERT_TRUE(unsound);
  EXPECT_EQ(unsound->kind, wire::ReportKind::kFailed);
  EXPECT_EQ(unsound->stage, wire::Stage::kNewRoot);
  EXPECT_NE(unsound->flags & wire::kNotBuilt, 0U);

  const Result<StartedRun> fresh = supply.start_instead_of(*warm, jail_spec(), null_streams());
  ASSERT_TRUE(fresh) << fresh.error().message;
  EXPECT_FALSE(fresh->built_ahead);
  EXPECT_NE(fresh->helper, warm->helper);
  const auto report = next_report(fresh->run);
  ASSERT_TRUE(report);
  // The jail was built, but its root is empty, so there is nothing to execute.
  EXPECT_EQ(report->kind, wire::ReportKind::kFailed);
  EXPECT_EQ(report->flags & wire::kNotBuilt, 0U);
  EXPECT_EQ(supply.warm_counts().spoiled, 1U);
  EXPECT_EQ(supply.warm_counts().warm, 0U);
}

TEST_F(HelperClientTest, TheSupplyForOneRunStartsAJailAheadAndANewOneForEachRun) {
  JailSupply supply({.runs = SupplyFor::kOneRun, .base = [] { return JailShape{}; }});
  ASSERT_TRUE(supply.start_ahead());
  const pid_t ahead = supply.helper_pid_for_tests();
  ASSERT_GT(ahead, 0);
  const Result<StartedRun> first = supply.start(jail_spec(), null_streams());
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->run.init, ahead) << "the init is our own child";
  const Result<StartedRun> second = supply.start(jail_spec(), null_streams());
  ASSERT_TRUE(second) << second.error().message;
  ASSERT_TRUE(second->run.init);
  EXPECT_NE(*second->run.init, ahead);
}

}  // namespace
}  // namespace sallyport::spawn
