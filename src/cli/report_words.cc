#include "cli/report_words.h"

#include <string>
#include <utility>
#include <vector>

#include "cli/option_words.h"

namespace sallyport::cli {
namespace {

void translate(std::string& text) { text = in_options(std::move(text)); }

void translate(jobs::ScannerOutcome& outcome) {
  if (auto* const failed = std::get_if<jobs::ScannerFailed>(&outcome)) translate(failed->why);
  if (auto* const other = std::get_if<jobs::NotApplicable>(&outcome)) translate(other->why);
}

void translate(jobs::StageResult& stage) {
  translate(stage.why);
  for (jobs::Step& step : stage.steps) {
    if (step.refusal) step.refusal = in_options(*std::move(step.refusal));
    step.denials = in_options(std::move(step.denials));
    if (can_be_allowed_hosts(stage.stage)) continue;
    for (Denial& denial : step.denials) denial.hint.clear();
  }
}

void translate(jobs::Verdict& verdict) {
  if (auto* const other = std::get_if<jobs::NotNpm>(&verdict)) translate(other->why);
  if (auto* const unknown = std::get_if<jobs::Incomplete>(&verdict)) translate(unknown->why);
}

}  // namespace

bool can_be_allowed_hosts(jobs::StageId stage) {
  return stage == jobs::StageId::kLock || stage == jobs::StageId::kFetch;
}

jobs::LintReport in_options(jobs::LintReport report) {
  translate(report.outcome);
  return report;
}

jobs::ProbeReport in_options(jobs::ProbeReport report) {
  for (jobs::ProbeResult& result : report.results) translate(result.outcome);
  translate(report.problem);
  return report;
}

jobs::ValidateReport in_options(jobs::ValidateReport report) {
  translate(report.verdict);
  for (jobs::StageResult& stage : report.stages) translate(stage);
  for (jobs::RuleInfo& rule : report.rules) translate(rule.help);
  translate(report.cache.problem);
  translate(report.changes_problem);
  for (std::string& note : report.notes) translate(note);
  return report;
}

}  // namespace sallyport::cli
