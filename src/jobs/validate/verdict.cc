#include "jobs/validate/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jobs/report/text.h"

namespace sallyport::jobs {
namespace {

StepState of_completed(const Completed& completed) {
  if (const auto* const signal = std::get_if<Signal>(&completed.fate)) {
    return {StageState::kFailed, fmt::format("npm was ended by signal {}", signal->number)};
  }
  const int code = std::get<ExitCode>(completed.fate).value;
  if (code == 0) return {StageState::kPassed, ""};
  return {StageState::kFailed, fmt::format("npm exited with {}", code)};
}

// The repo causes a refusal by a rule; this host causes any other.
StepState of_refusal(const Error& error) {
  const bool by_rule = error.as<InvalidRequest>() != nullptr || error.as<DisallowedSubprocessError>() != nullptr;
  return {by_rule ? StageState::kDenied : StageState::kIncomplete,
          error.hint.empty() ? error.message : fmt::format("{}; {}", error.message, error.hint)};
}

const StageResult* first_in(std::span<const StageResult> stages, StageState state) {
  const auto found = std::ranges::find(stages, state, &StageResult::state);
  return found == stages.end() ? nullptr : &*found;
}

}  // namespace

std::string_view name_of(StageId stage) {
  constexpr std::array<std::string_view, 4> kNames = {"lock", "fetch", "build", "test"};
  return kNames.at(static_cast<std::size_t>(stage));
}

std::string_view name_of(StageState state) {
  constexpr std::array<std::string_view, 6> kNames = {"passed", "failed", "denied", "limited", "incomplete", "skipped"};
  return kNames.at(static_cast<std::size_t>(state));
}

StepState state_of(const Step& step) {
  if (step.refusal) return of_refusal(*step.refusal);
  if (!step.outcome) return {StageState::kIncomplete, "it was not run"};
  return std::visit(
      overloaded{
          [](const Completed& completed) { return of_completed(completed); },
          [](const TimedOut& late) {
            return StepState{StageState::kLimited, fmt::format("killed after {} ms, its limit", late.limit.count())};
          },
          [](const OomKilled& oom) {
            return StepState{StageState::kLimited,
                             fmt::format("used more than its {} bytes of memory", oom.limit_bytes)};
          },
          [](const NetworkDenied& denied) {
            return StepState{StageState::kDenied, fmt::format("was refused {}:{}", shown(denied.host), denied.port)};
          },
          [](const DiskQuotaExceeded& full) {
            return StepState{StageState::kLimited,
                             fmt::format("wrote more than its {} bytes, or too many files", full.quota_bytes)};
          },
          [](const Cancelled&) { return StepState{StageState::kIncomplete, "cancelled"}; }},
      *step.outcome);
}

std::string_view name_of(const Verdict& verdict) {
  return std::visit(overloaded{[](const Passed&) { return std::string_view("passed"); },
                               [](const Failed&) { return std::string_view("failed"); },
                               [](const Denied&) { return std::string_view("denied"); },
                               [](const Limited&) { return std::string_view("limited"); },
                               [](const NotNpm&) { return std::string_view("not_npm"); },
                               [](const Incomplete&) { return std::string_view("incomplete"); }},
                    verdict);
}

std::optional<StageId> stage_of(const Verdict& verdict) {
  using Stage = std::optional<StageId>;
  return std::visit(
      overloaded{[](const Passed&) { return Stage(); }, [](const Failed& failed) { return Stage(failed.stage); },
                 [](const Denied& denied) { return Stage(denied.stage); },
                 [](const Limited& limited) { return Stage(limited.stage); }, [](const NotNpm&) { return Stage(); },
                 [](const Incomplete&) { return Stage(); }},
      verdict);
}

Verdict verdict_of(std::span<const StageResult> stages) {
  if (const StageResult* stage = first_in(stages, StageState::kIncomplete)) {
    return Incomplete{.why = fmt::format("{}: {}", name_of(stage->stage), stage->why)};
  }
  if (const StageResult* stage = first_in(stages, StageState::kDenied)) return Denied{.stage = stage->stage};
  if (const StageResult* stage = first_in(stages, StageState::kLimited)) return Limited{.stage = stage->stage};
  if (const StageResult* stage = first_in(stages, StageState::kFailed)) return Failed{.stage = stage->stage};
  const auto ran = [&](StageId id) {
    return std::ranges::any_of(
        stages, [&](const StageResult& stage) { return stage.stage == id && stage.state == StageState::kPassed; });
  };
  // A stage that did not run has not passed. Only build is optional.
  for (const StageId id : {StageId::kLock, StageId::kFetch, StageId::kTest}) {
    if (!ran(id)) return Incomplete{.why = fmt::format("{}: it was not run", name_of(id))};
  }
  return Passed{};
}

int exit_code_of(const Verdict& verdict) {
  return std::visit(overloaded{[](const Passed&) { return 0; }, [](const Failed&) { return 1; },
                               [](const Denied&) { return 1; }, [](const Limited&) { return 1; },
                               [](const NotNpm&) { return 2; }, [](const Incomplete&) { return 2; }},
                    verdict);
}

}  // namespace sallyport::jobs
