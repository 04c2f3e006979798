#include "jobs/validate/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sallyport::jobs {
namespace {

std::vector<StageResult> stages(std::vector<StageState> states) {
  std::vector<StageResult> results;
  for (std::size_t i = 0; i < states.size(); ++i) {
    results.push_back({.stage = static_cast<StageId>(i), .state = states[i], .why = "because"});
  }
  return results;
}

constexpr auto kPassed = StageState::kPassed;
constexpr auto kFailed = StageState::kFailed;
constexpr auto kDenied = StageState::kDenied;
constexpr auto kLimited = StageState::kLimited;
constexpr auto kIncomplete = StageState::kIncomplete;
constexpr auto kSkipped = StageState::kSkipped;

std::string verdict(std::vector<StageState> states) {
  const Verdict whole = verdict_of(stages(std::move(states)));
  const std::optional<StageId> stage = stage_of(whole);
  return std::string(name_of(whole)) + (stage ? " " + std::string(name_of(*stage)) : "") + " " +
         std::to_string(exit_code_of(whole));
}

TEST(Verdict, IsPassedOnlyWhenEveryStageButBuildHasPassed_C32) {
  EXPECT_EQ(verdict({kPassed, kPassed, kPassed, kPassed}), "passed 0");
  EXPECT_EQ(verdict({kPassed, kPassed, kSkipped, kPassed}), "passed 0");
  EXPECT_EQ(verdict({kPassed, kPassed, kSkipped, kSkipped}), "incomplete 2");
  EXPECT_EQ(verdict({}), "incomplete 2");
}

TEST(Verdict, NamesTheStageAndLetsTheWorstDecide_C32) {
  EXPECT_EQ(verdict({kFailed, kPassed, kSkipped, kPassed}), "failed lock 1");
  EXPECT_EQ(verdict({kFailed, kDenied, kSkipped, kSkipped}), "denied fetch 1");
  EXPECT_EQ(verdict({kFailed, kPassed, kSkipped, kLimited}), "limited test 1");
  EXPECT_EQ(verdict({kDenied, kPassed, kSkipped, kIncomplete}), "incomplete 2");
  EXPECT_EQ(exit_code_of(NotNpm{}), 2);
}

TEST(StepState, ComesFromTheOutcomeAndNotFromWhatWasPrinted_C20) {
  const auto state = [](Outcome outcome) { return state_of({.outcome = std::move(outcome)}).state; };
  EXPECT_EQ(state(Completed{ExitCode{0}}), kPassed);
  EXPECT_EQ(state(Completed{ExitCode{137}}), kFailed);
  EXPECT_EQ(state(Completed{Signal{9}}), kFailed);
  EXPECT_EQ(state(TimedOut{}), kLimited);
  EXPECT_EQ(state(OomKilled{}), kLimited);
  EXPECT_EQ(state(DiskQuotaExceeded{}), kLimited);
  EXPECT_EQ(state(NetworkDenied{.host = "evil.test", .port = 443}), kDenied);
  EXPECT_EQ(state(Cancelled{}), kIncomplete);
  EXPECT_EQ(state_of({}).state, kIncomplete);
}

TEST(StepState, DistinguishesARefusalByARuleFromAHostThatCannot) {
  const auto state = [](ErrorDetail detail) {
    return state_of({.refusal = Error{.detail = std::move(detail), .message = "m", .hint = "h"}});
  };
  EXPECT_EQ(state(InvalidRequest{.field = "argv"}).state, kDenied);
  EXPECT_EQ(state(InvalidRequest{.field = "argv"}).why, "m; h");
  EXPECT_EQ(state(ToolMissingError{}).state, kIncomplete);
  EXPECT_EQ(state(JailUnavailable{}).state, kIncomplete);
  EXPECT_EQ(state(GuaranteeUnavailable{}).state, kIncomplete);
  EXPECT_EQ(state(JailDied{}).state, kIncomplete);
}

}  // namespace
}  // namespace sallyport::jobs
