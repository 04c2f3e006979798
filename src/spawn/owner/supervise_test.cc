// The supervisor over a run whose reports are scripted: no process, no kernel, and no clock except the deadline's.
#include "spawn/owner/supervise.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "os/pipe.h"
#include "spawn/owner/scripted_run.h"

namespace sallyport::spawn {
namespace {

using namespace std::chrono_literals;

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
  bool shown = false;
  const Result<Ended> ended = run(script, {.on_started = [&shown](const RunFacts& facts) -> Status {
                                    shown = facts.landlocked && facts.ports_redirected;
                                    return {};
                                  }});
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->facts.landlocked);
  EXPECT_TRUE(ended->facts.ports_redirected);
  EXPECT_TRUE(shown) << "as soon as it started";
}

// What was required is missing: the tool must not run on.
TEST(Supervisor, KillsARunWhoseFactsAreNotEnough) {
  Script script{.reports = {[](const ToolStreams&) { return started(); }}, .on_stop = [](StopStep, Script& self) {
                  self.reports.push_back([](const ToolStreams&) { return exited(0); });
                }};
  const Result<Ended> ended = run(script, {.on_started = [](const RunFacts&) -> Status {
                                    return fail({.detail = GuaranteeUnavailable{}, .message = "no lock", .hint = {}});
                                  }});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "no lock");
  ASSERT_FALSE(script.stops.empty());
  EXPECT_NE(script.stops.front(), StopStep::kTerminate) << "it gets no time";
}

// What it writes to one, it writes to the other.
TEST(Supervisor, CapturesBothStreamsInOrderFromOnePipe) {
  Script script{.reports = {[](const ToolStreams&) { return started(); },
                            [](const ToolStreams& streams) {
                              EXPECT_EQ(::write(streams.out, "a", 1), 1);
                              EXPECT_EQ(::write(streams.err, "b", 1), 1);
                              EXPECT_EQ(::write(streams.out, "c", 1), 1);
                              return exited(0);
                            }}};
  const Result<Ended> ended = run(script, {.output_pipes = OutputPipes::kOne});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->stdout_stream.bytes, "abc");
  EXPECT_EQ(ended->stderr_stream.bytes, "");
}

// The rest of the input would be missing, and the tool would treat the part as the whole.
TEST(Supervisor, EndsARunWhoseInputCannotBeReadToItsEnd) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd ours(ends[0]);
  UniqueFd peer(ends[1]);
  // unix(7): a peer that leaves with data unread is a reset connection.
  ASSERT_EQ(::send(ours.get(), "x", 1, 0), 1);
  peer.reset();
  Script script{.reports = {[](const ToolStreams&) { return started(); }}, .on_stop = [](StopStep, Script& self) {
                  self.reports.push_back([](const ToolStreams&) { return exited(0); });
                }};
  const Result<Ended> ended = run(script, {.stdin_source = StdinFd{ours.get()}});
  ASSERT_FALSE(ended);
  ASSERT_NE(ended.error().as<SystemError>(), nullptr);
  EXPECT_NE(ended.error().message.find("standard input"), std::string::npos) << ended.error().message;
  EXPECT_FALSE(script.stops.empty());
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
  EXPECT_EQ(ended.error().as<JailUnavailable>()->jail.name(), "scripted");
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

TEST(Supervisor, TerminatesWhenTheCallersDescriptorIsReadable_C10) {
  const Result<Pipe> asked = make_pipe();
  ASSERT_TRUE(asked);
  ASSERT_EQ(::write(asked->write_end.get(), "!", 1), 1);
  Script script{.reports = {[](const ToolStreams&) { return started(); }}, .on_stop = [](StopStep, Script& self) {
                  self.reports.push_back([](const ToolStreams&) { return exited(0); });
                }};
  const Result<Ended> ended = run(script, {.stop_fd = asked->read_end.get()});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->by, EndedBy::kStop);
  EXPECT_EQ(script.stops, std::vector{StopStep::kTerminate});
}

TEST(Supervisor, HandsTheNetworkOverAndEndsTheRunWhenNobodyTakesIt) {
  const auto script_with_network = [] {
    return Script{.reports = {[](const ToolStreams&) { return RunReport(NetworkOpened{.refusals_shown = true}); },
                              [](const ToolStreams&) { return started(); },
                              [](const ToolStreams&) { return exited(0); }}};
  };
  bool shown = false;
  Script good = script_with_network();
  const Result<Ended> taken = run(good, {.on_network = [&shown](const NetworkOpened& network) -> Result<NetworkWatch> {
                                    shown = network.refusals_shown;
                                    return NetworkWatch{};
                                  }});
  EXPECT_TRUE(taken.has_value());
  EXPECT_TRUE(shown);
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
