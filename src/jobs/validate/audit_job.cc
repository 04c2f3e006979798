// What the audit log keeps of a whole validation.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>

#include "jobs/validate/validate.h"
#include "sallyport/audit.h"

namespace sallyport::jobs {
namespace {

JobResult result_of(StageState state) {
  switch (state) {
    case StageState::kPassed:
      return JobResult::kPassed;
    case StageState::kFailed:
    case StageState::kDenied:
    case StageState::kLimited:
      return JobResult::kFailed;
    case StageState::kIncomplete:
      return JobResult::kIncomplete;
    case StageState::kSkipped:
      break;
  }
  return JobResult::kSkipped;
}

bool is_incomplete(const StageResult& stage) { return stage.state == StageState::kIncomplete; }

}  // namespace

AuditJob audit_of(const ValidateReport& report, const ValidateOptions& options) {
  AuditJob job{.name = "validate", .verdict = std::string(name_of(report.verdict))};
  bool warned = false;
  for (const StageResult& stage : report.stages) {
    AuditJobStep step{.name = std::string(name_of(stage.stage)), .result = result_of(stage.state), .why = stage.why};
    if (step.result == JobResult::kPassed && !stage.findings.empty()) {
      step.result = JobResult::kWarned;
      step.why = fmt::format("{} findings", stage.findings.size());
    }
    warned = warned || step.result == JobResult::kWarned;
    job.steps.push_back(std::move(step));
  }
  // A failure before the first stage belongs to no stage, so it gets a step of its own.
  const auto* const incomplete = std::get_if<Incomplete>(&report.verdict);
  if (incomplete != nullptr && std::ranges::none_of(report.stages, &is_incomplete)) {
    job.steps.push_back({.name = "start", .result = JobResult::kIncomplete, .why = incomplete->why});
  }
  const int code = exit_code_of(report.verdict);
  job.result = code == 2 ? JobResult::kIncomplete : code == 1 ? JobResult::kFailed : JobResult::kPassed;
  if (job.result == JobResult::kPassed && warned) job.result = JobResult::kWarned;
  job.settings = {{"severity", std::string(name_of(options.threshold))},
                  {"registry", report.registry},
                  {"allow_scripts", fmt::format("{}", fmt::join(options.allow_scripts, ","))},
                  {"min_age_seconds", options.min_age ? fmt::format("{}", options.min_age->count()) : ""},
                  {"signatures", options.signatures ? "checked" : "not checked"}};
  return job;
}

}  // namespace sallyport::jobs
