// The supervisor over a run whose reports are scripted: no process, no kernel, and no clock except the deadline's.
#include "spawn/owner/supervise.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <utility>

#include "os/event_fd.h"

namespace sallyport::spawn {
namespace {

using namespace std::chrono_literals;

struct Script {
  std::deque<std::function<Result<RunReport>(const ToolStreams&)>> reports{};  // one for each next()
  std::function<void(StopStep, Script&)> on_stop{};
  std::vector<StopStep> stops{};
};

RunReport started() { return ToolStarted{}; }
RunReport exited(int code) { return ToolEnded{.wait_status = code << 8, .is_last = true}; }

class ScriptedRun final : public LiveRun {
 public:
  ScriptedRun(Script& script, const ToolStreams& streams)
      : script_(script), streams_{.in = streams.in, .out = ::dup(streams.out), .err = ::dup(streams.err)} {
    if (!script_.reports.empty()) news_.signal();
  }
  ~ScriptedRun() override {
    ::close(streams_.out);
    ::close(streams_.err);
  }
  [[nodiscard]] int event_fd() const override { return script_.reports.empty() ? quiet_.fd() : news_.fd(); }
  [[nodiscard]] Result<RunReport> next() override {
    if (script_.reports.empty()) return RunReport(RunGone{});
    const auto report = std::move(script_.reports.front());
    script_.reports.pop_front();
    return report(streams_);
  }
  void stop(StopStep step) override {
    script_.stops.push_back(step);
    if (script_.on_stop) script_.on_stop(step, script_);
    if (!script_.reports.empty()) news_.signal();
  }

 private:
  Script& script_;
  const ToolStreams streams_;
  const EventFd news_ = EventFd::create().value();
  const EventFd quiet_ = EventFd::create().value();
};

class ScriptedStage final : public StagedRun {
 public:
  explicit ScriptedStage(Script& script) : script_(script) {}
  [[nodiscard]] std::vector<Established> would_establish() const override { return {}; }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    return std::make_unique<ScriptedRun>(script_, streams);
  }

 private:
  Script& script_;
};

Result<Ended> run(Script& script, Supervision how = {}, const std::stop_token& stop = {}) {
  if (how.wall == 0ms) how.wall = 60s;
  if (how.max_output == ByteCount{0}) how.max_output = mebibytes(1);
  how.jail = "scripted";
  ScriptedStage stage(script);
  return supervise(stage, how, stop);
}

TEST(Supervisor, GivesTheReportedEndAndTheOutputBeforeIt) {
  Script script{.reports = {[](const ToolStreams&) { return started(); },
                            [](const ToolStreams& streams) {
                              EXPECT_EQ(::write(streams.out, "out", 3), 3);
                              EXPECT_EQ(::write(streams.err, "err!", 4), 4);
                              return exited(7);
                            }}};
  const Result<Ended> ended = run(script);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kItself);
  EXPECT_EQ(ended->wait_status, 7 << 8);
  EXPECT_EQ(ended->stdout_stream.bytes, "out");
  EXPECT_EQ(ended->stderr_stream.bytes, "err!");
  EXPECT_TRUE(script.stops.empty());
}

TEST(Supervisor, KeepsTheFactsThatTheStartReported) {
  Script script{.reports = {[](const ToolStreams&) {
                              return RunReport(ToolStarted{.facts = {.landlocked = true, .ports_redirected = true}});
                            },
                            [](const ToolStreams&) { return exited(0); }}};
  const Result<Ended> ended = run(script);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->facts.landlocked);
  EXPECT_TRUE(ended->facts.ports_redirected);
}

TEST(Supervisor, TurnsAFailedStepIntoAnErrorThatNamesIt) {
  Script script{.reports = {[](const ToolStreams&) {
                              return RunReport(StartFailed{
                                  .stage = SetupStage::kSeccomp, .error_number = EINVAL, .host_cannot = true});
                            },
                            [](const ToolStreams&) { return RunReport(RunGone{}); }}};
  const Result<Ended> ended = run(script);
  ASSERT_FALSE(ended);
  const auto* failed = ended.error().as<SetupFailed>();
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->stage, SetupStage::kSeccomp);
  EXPECT_EQ(failed->error_number, EINVAL);
  EXPECT_TRUE(failed->host_cannot);
}

TEST(Supervisor, QuotesTheFirstLineOfAJailThatExplainsItselfOnStderr) {
  Script script{.reports = {[](const ToolStreams& streams) {
                              EXPECT_EQ(::write(streams.err, "no such thing\nmore\n", 19), 19);
                              return RunReport(StartFailed{.said_on_stderr = true});
                            },
                            [](const ToolStreams&) { return RunReport(RunGone{}); }}};
  const Result<Ended> ended = run(script);
  ASSERT_FALSE(ended);
  ASSERT_NE(ended.error().as<JailUnavailable>(), nullptr);
  EXPECT_EQ(ended.error().as<JailUnavailable>()->jail, "scripted");
  EXPECT_NE(ended.error().message.find("no such thing"), std::string::npos);
  EXPECT_EQ(ended.error().message.find("more"), std::string::npos);
}

// The supervisor invents no outcome for a run that vanished.
TEST(Supervisor, IsAnErrorWhenTheRunIsGoneWithoutAnEnd) {
  Script script{.reports = {[](const ToolStreams&) { return started(); },
                            [](const ToolStreams&) { return RunReport(RunGone{}); }}};
  const Result<Ended> ended = run(script);
  ASSERT_FALSE(ended);
  EXPECT_NE(ended.error().as<SystemError>(), nullptr);
}

TEST(Supervisor, PassesOnAnErrorOfTheRunItself) {
  Script script{.reports = {[](const ToolStreams&) -> Result<RunReport> {
                  return fail({.detail = SystemError{.operation = "ask"}, .message = "cannot ask", .hint = {}});
                }}};
  const Result<Ended> ended = run(script);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "cannot ask");
}

// C9: SIGTERM first, then SIGKILL; a run that ends at the first step is not killed.
TEST(Supervisor, TerminatesAtTheDeadlineAndWaitsForTheEnd_C9) {
  Script script{.reports = {[](const ToolStreams&) { return started(); }}, .on_stop = [](StopStep, Script& self) {
                  self.reports.push_back(
                      [](const ToolStreams&) { return RunReport(ToolEnded{.wait_status = SIGTERM, .is_last = true}); });
                }};
  const Result<Ended> ended = run(script, {.wall = 10ms});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kDeadline);
  EXPECT_EQ(ended->wait_status, SIGTERM);
  EXPECT_EQ(script.stops, std::vector{StopStep::kTerminate});
}

TEST(Supervisor, TakesEveryStepOfTheLadderAgainstARunThatDoesNotAnswer_C9) {
  Script script{.reports = {[](const ToolStreams&) { return started(); }}, .on_stop = [](StopStep step, Script& self) {
                  if (step != StopStep::kForce) return;
                  self.reports.push_back([](const ToolStreams&) {
                    return RunReport(ToolEnded{.wait_status = SIGKILL, .fate_unknown = true, .is_last = true});
                  });
                }};
  const Result<Ended> ended = run(script, {.wall = 10ms});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kDeadline);
  EXPECT_EQ(script.stops, (std::vector{StopStep::kTerminate, StopStep::kKill, StopStep::kForce}));
}

// A jail that never starts the tool does not get thirty seconds to die.
TEST(Supervisor, AbandonsAJailThatNeitherStartsNorDies_C35) {
  Script script;
  const Result<Ended> ended = run(script, {.wall = 10ms});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kDeadline);
  EXPECT_EQ(script.stops, (std::vector{StopStep::kTerminate, StopStep::kForce, StopStep::kAbandon}));
}

TEST(Supervisor, TerminatesWhenTheCallerStops_C10) {
  std::stop_source source;
  Script script{
      .reports = {[&source](const ToolStreams&) {
        source.request_stop();
        return started();
      }},
      .on_stop = [](StopStep, Script& self) { self.reports.push_back([](const ToolStreams&) { return exited(0); }); }};
  const Result<Ended> ended = run(script, {}, source.get_token());
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kStop);
  EXPECT_EQ(script.stops, std::vector{StopStep::kTerminate});
}

// A run over its limit gets SIGKILL at once, without SIGTERM.
TEST(Supervisor, KillsARunThatHasUsedUpItsProcessorTime) {
  Script script{.reports = {[](const ToolStreams&) { return started(); }}, .on_stop = [](StopStep, Script& self) {
                  self.reports.push_back([](const ToolStreams&) { return exited(0); });
                }};
  const Result<Ended> ended = run(script, {.cpu = CpuBudget{.limit = 1ms, .used = [] { return 2ms; }}});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kCpuTime);
  ASSERT_FALSE(script.stops.empty());
  EXPECT_NE(script.stops.front(), StopStep::kTerminate);
}

TEST(Supervisor, HandsTheNetworkOverAndEndsTheRunWhenNobodyTakesIt) {
  const auto script_with_network = [] {
    return Script{.reports = {[](const ToolStreams&) { return RunReport(NetworkOpened{.ports_redirected = true}); },
                              [](const ToolStreams&) { return started(); },
                              [](const ToolStreams&) { return exited(0); }}};
  };
  bool redirected = false;
  Script good = script_with_network();
  const Result<Ended> taken =
      run(good, {.on_network = [&redirected](const NetworkOpened& network) -> Result<NetworkWatch> {
            redirected = network.ports_redirected;
            return NetworkWatch{};
          }});
  EXPECT_TRUE(taken.has_value());
  EXPECT_TRUE(redirected);
  Script bad = script_with_network();
  const Result<Ended> refused = run(bad, {.on_network = [](const NetworkOpened&) -> Result<NetworkWatch> {
                                      return fail({.detail = SystemError{}, .message = "no proxy", .hint = {}});
                                    }});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no proxy");
  EXPECT_FALSE(bad.stops.empty()) << "the tool would have run without its proxy";
}

}  // namespace
}  // namespace sallyport::spawn
