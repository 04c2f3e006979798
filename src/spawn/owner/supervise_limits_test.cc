// The limits that the supervisor itself keeps, over a scripted run. Each is held against a run that stays within it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>

#include "spawn/owner/scripted_run.h"
#include "spawn/owner/supervise.h"

namespace sallyport::spawn {
namespace {

using namespace std::chrono_literals;

constexpr ByteCount kEndless{std::uint64_t{1} << 60U};

// A run that lasts until it is stopped.
Script until_stopped(std::function<RunReport()> start) {
  return {
      .reports = {[start = std::move(start)](const ToolStreams&) { return start(); }},
      .on_stop = [](StopStep, Script& self) { self.reports.push_back([](const ToolStreams&) { return exited(0); }); }};
}
Script that_ends(std::function<RunReport()> start) {
  Script script = until_stopped(std::move(start));
  script.reports.push_back([](const ToolStreams&) { return exited(0); });
  return script;
}

// We enforce our own limits with SIGKILL at once, without SIGTERM first.
void expect_killed(const Result<Ended>& ended, const Script& script, EndedBy by) {
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, by);
  ASSERT_FALSE(script.stops.empty());
  EXPECT_NE(script.stops.front(), StopStep::kTerminate);
}
void expect_left_alone(const Result<Ended>& ended, const Script& script) {
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kItself);
  EXPECT_TRUE(script.stops.empty());
}

TEST(SupervisedLimits, KillARunThatHasUsedUpItsProcessorTime) {
  Script greedy = until_stopped(started);
  expect_killed(run(greedy, {.cpu = CpuBudget{.limit = 1ms, .used = [] { return 2ms; }}}), greedy, EndedBy::kCpuTime);
  Script unknown = until_stopped(started);
  expect_killed(run(unknown, {.cpu = CpuBudget{.limit = 1ms, .used = [] { return std::nullopt; }}}), unknown,
                EndedBy::kCpuTime);
  Script modest = that_ends(started);
  expect_left_alone(run(modest, {.cpu = CpuBudget{.limit = 1h, .used = [] { return 2ms; }}}), modest);
}

TEST(SupervisedLimits, KillARunWhoseSocketsHoldTooMuch) {
  Script greedy = until_stopped(started);
  const Result<Ended> ended = run(greedy, {.sockets = SocketBudget{.limit_bytes = 10, .used = [] { return 11; }}});
  expect_killed(ended, greedy, EndedBy::kMemory);
  EXPECT_EQ(ended->socket_bytes, 11U);
  Script modest = that_ends(started);
  expect_left_alone(run(modest, {.sockets = SocketBudget{.limit_bytes = 10, .used = [] { return 10; }}}), modest);
}

// The tree of the run is this test itself.
TEST(SupervisedLimits, KillARunWhoseProcessesHoldTooMuch) {
  const auto with_tree = [] {
    return RunReport(ToolStarted{.tree = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)))});
  };
  Script greedy = until_stopped(with_tree);
  const Result<Ended> ended = run(greedy, {.memory = MemoryBudget{.limit_bytes = 1}});
  expect_killed(ended, greedy, EndedBy::kMemory);
  EXPECT_GT(ended->memory_bytes, 1U);
  Script modest = that_ends(with_tree);
  expect_left_alone(run(modest, {.memory = MemoryBudget{.limit_bytes = std::numeric_limits<std::uint64_t>::max() - 1}}),
                    modest);
}

// /proc has no free blocks, and stands for a scratch that is full.
TEST(SupervisedLimits, KillARunThatHasFilledItsScratch) {
  const auto scratch_at = [](const char* place) {
    return [place] { return RunReport(ToolStarted{.scratch = UniqueFd(::open(place, O_PATH | O_CLOEXEC))}); };
  };
  Script greedy = until_stopped(scratch_at("/proc"));
  expect_killed(run(greedy, {.disk_quota = kEndless}), greedy, EndedBy::kDiskQuota);
  Script modest = that_ends(scratch_at("."));
  const Result<Ended> ended = run(modest, {.disk_quota = kEndless});
  expect_left_alone(ended, modest);
  EXPECT_GT(ended->scratch_used, 0U) << "measured";
}

// The tool fills its scratch and exits at once, between two measurements.
TEST(SupervisedLimits, SeeAScratchThatIsFullAtTheEnd) {
  int scratch = -1;
  Script script{.reports = {[&scratch](const ToolStreams&) {
                              UniqueFd fd(::open(".", O_PATH | O_CLOEXEC));
                              scratch = fd.get();
                              return RunReport(ToolStarted{.scratch = std::move(fd)});
                            },
                            [&scratch](const ToolStreams&) {
                              const UniqueFd full(::open("/proc", O_PATH | O_CLOEXEC));
                              EXPECT_EQ(::dup3(full.get(), scratch, O_CLOEXEC), scratch);
                              return exited(0);
                            }}};
  const Result<Ended> ended = run(script, {.disk_quota = kEndless});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kDiskQuota);
}

TEST(SupervisedLimits, KillARunWhoseLayersHoldTooMuch) {
  Script greedy = until_stopped(started);
  const Result<Ended> ended = run(greedy, {.layers = [](LayerLook look) -> std::optional<LayerFull> {
                                    if (look == LayerLook::kAtTheEnd) return std::nullopt;
                                    return LayerFull{.bytes = 5, .quota_bytes = 4};
                                  }});
  expect_killed(ended, greedy, EndedBy::kDiskQuota);
  ASSERT_TRUE(ended->layer_full);
  EXPECT_EQ(ended->layer_full->bytes, 5U);
  Script modest = that_ends(started);
  expect_left_alone(run(modest, {.layers = [](LayerLook) { return std::nullopt; }}), modest);
}

TEST(SupervisedLimits, SeeLayersThatAreTooLargeAtTheEnd) {
  Script script = that_ends(started);
  const Result<Ended> ended = run(script, {.layers = [](LayerLook look) -> std::optional<LayerFull> {
                                    if (look == LayerLook::kWhileRunning) return std::nullopt;
                                    return LayerFull{.files = 7, .quota_files = 6};
                                  }});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kDiskQuota);
  ASSERT_TRUE(ended->layer_full);
  EXPECT_EQ(ended->layer_full->files, 7U);
  EXPECT_TRUE(script.stops.empty()) << "it is over";
}

RunReport guests_end(const GuestFacts& facts) { return ToolEnded{.is_last = true, .of_guest = facts}; }

TEST(SupervisedLimits, TakeWhatOnlyTheGuestCouldCount) {
  Script script{.reports = {[](const ToolStreams&) { return started(); },
                            [](const ToolStreams&) {
                              return guests_end({.oom_kills = 2, .scratch_bytes = 3, .scratch_files = 4});
                            }}};
  const Result<Ended> ended = run(script);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kItself);
  EXPECT_EQ(ended->guests_oom_kills, 2U);
  EXPECT_EQ(ended->scratch_used, 3U);
  EXPECT_EQ(ended->scratch_files, 4U);
}

TEST(SupervisedLimits, TakeTheGuestsWordForAFullScratchUnlessWeEndedTheRun) {
  const auto full = [](const ToolStreams&) { return guests_end({.scratch_full = true}); };
  Script by_itself{.reports = {[](const ToolStreams&) { return started(); }, full}};
  const Result<Ended> ended = run(by_itself);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kDiskQuota);
  Script by_us{.reports = {[](const ToolStreams&) { return started(); }},
               .on_stop = [&full](StopStep, Script& self) { self.reports.emplace_back(full); }};
  const Result<Ended> late = run(by_us, {.wall = 10ms});
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->by, EndedBy::kDeadline);
}

}  // namespace
}  // namespace sallyport::spawn
