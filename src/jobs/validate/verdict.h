// The results of each stage and of the whole. Pure values: a stage's state comes from the gate's outcome, never from
// what npm or the repo printed.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/report/finding.h"
#include "sallyport/jail.h"

namespace sallyport::jobs {

enum class StageId { kLock, kFetch, kBuild, kTest };
[[nodiscard]] std::string_view name_of(StageId stage);

// One call through the gate.
struct Step {
  std::vector<std::string> argv{};
  std::optional<Outcome> outcome{};  // unset: refused
  std::optional<Error> refusal{};
  std::chrono::microseconds duration{};
  Usage usage{};
  Receipt receipt{};
  std::vector<Denial> denials{};
  std::string stdout_tail{};
  std::string stderr_tail{};
};

enum class StageState {
  kPassed,
  kFailed,      // the tool failed, or a finding counts
  kDenied,      // it tried to reach something that is not allowed
  kLimited,     // a limit ended it
  kIncomplete,  // we could not run it: nothing is known
  kSkipped,     // it was not asked for, or an earlier stage did not pass
};
[[nodiscard]] std::string_view name_of(StageState state);

struct StageResult {
  StageId stage{};
  StageState state = StageState::kSkipped;
  std::string why{};  // one line; empty when it passed
  std::chrono::milliseconds duration{};
  std::vector<Step> steps{};
  std::vector<Finding> findings{};
};

// The state of a step, and why.
struct StepState {
  StageState state{};
  std::string why{};
};
[[nodiscard]] StepState state_of(const Step& step);

struct Passed {};
struct Failed {
  StageId stage{};
};
struct Denied {
  StageId stage{};
};
struct Limited {
  StageId stage{};
};
struct NotNpm {
  std::string why{};
};
struct Incomplete {
  std::string why{};
};
using Verdict = std::variant<Passed, Failed, Denied, Limited, NotNpm, Incomplete>;

// "passed", "failed", "denied", "limited", "not_npm", "incomplete".
[[nodiscard]] std::string_view name_of(const Verdict& verdict);
[[nodiscard]] std::optional<StageId> stage_of(const Verdict& verdict);

// Incomplete takes precedence; then denied, limited, failed; then the earlier stage.
[[nodiscard]] Verdict verdict_of(std::span<const StageResult> stages);

// 0 passed; 1 failed, denied, limited; 2 not_npm, incomplete.
[[nodiscard]] int exit_code_of(const Verdict& verdict);

}  // namespace sallyport::jobs
