#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "jobs/report/sarif.h"
#include "jobs/report/text.h"
#include "jobs/validate/validate.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kDeniedRule = "denied-host";
constexpr std::string_view kStageRule = "stage-not-passed";

Severity severity_of(PersistenceSeverity severity) {
  switch (severity) {
    case PersistenceSeverity::kLow:
      return Severity::kLow;
    case PersistenceSeverity::kMedium:
      return Severity::kMedium;
    case PersistenceSeverity::kHigh:
      break;
  }
  return Severity::kHigh;
}

Invocation invocation_of(const Step& step) {
  Invocation call{.argv = step.argv, .duration = step.duration, .receipt = step.receipt};
  const auto* const completed = step.outcome ? std::get_if<Completed>(&*step.outcome) : nullptr;
  if (completed == nullptr) return call;
  if (const auto* code = std::get_if<ExitCode>(&completed->fate)) call.exit_code = code->value;
  if (const auto* signal = std::get_if<Signal>(&completed->fate)) call.signal = signal->number;
  return call;
}

void add_stage(const StageResult& stage, Ran& ran) {
  ran.findings.insert(ran.findings.end(), stage.findings.begin(), stage.findings.end());
  for (const Step& step : stage.steps) {
    ran.invocations.push_back(invocation_of(step));
    for (const Denial& denial : step.denials) {
      ran.findings.push_back({.rule = std::string(kDeniedRule),
                              .severity = Severity::kHigh,
                              .message = fmt::format("{} reached for {}:{}: {}", name_of(stage.stage),
                                                     shown(denial.host), denial.port, reason_text(denial))});
    }
  }
  if (stage.state == StageState::kPassed || stage.state == StageState::kSkipped) return;
  ran.findings.push_back({.rule = std::string(kStageRule),
                          .severity = Severity::kHigh,
                          .message = fmt::format("{} {}: {}", name_of(stage.stage), name_of(stage.state), stage.why)});
}

std::vector<RuleInfo> rules_of(const ValidateReport& report) {
  std::vector<RuleInfo> rules = report.rules;
  rules.push_back({std::string(kDeniedRule), Severity::kHigh, "a host was refused", "Find out what asks for it"});
  rules.push_back({std::string(kStageRule), Severity::kHigh, "a stage did not pass", "Read npm's message"});
  std::map<std::string, Severity> left;
  for (const PersistenceFinding& finding : report.changes.findings) {
    Severity& worst = left.try_emplace(finding.rule, Severity::kLow).first->second;
    worst = std::max(worst, severity_of(finding.severity));
  }
  for (const auto& [rule, severity] : left) {
    rules.push_back({"left-" + rule, severity, "the run left something that would run later, outside a jail",
                     "Do not commit it without a look"});
  }
  return rules;
}

}  // namespace

std::string validate_sarif(const ValidateReport& report, std::string_view program_version) {
  const std::vector<RuleInfo> rules = rules_of(report);
  ScannerOutcome outcome = NotApplicable{};
  if (const auto* const other = std::get_if<NotNpm>(&report.verdict)) {
    outcome = NotApplicable{.why = other->why};
  } else if (const auto* const unknown = std::get_if<Incomplete>(&report.verdict)) {
    ScannerFailed failed{.why = unknown->why};
    for (const StageResult& stage : report.stages) {
      for (const Step& step : stage.steps) failed.invocations.push_back(invocation_of(step));
    }
    outcome = std::move(failed);
  } else {
    Ran ran;
    for (const StageResult& stage : report.stages) add_stage(stage, ran);
    for (const PersistenceFinding& finding : report.changes.findings) {
      ran.findings.push_back({.rule = "left-" + finding.rule,
                              .severity = severity_of(finding.severity),
                              .message = finding.reason,
                              .place = {.path = finding.path}});
    }
    outcome = std::move(ran);
  }
  const SarifRun run{.tool = "validate", .category = "sallyport/validate", .rules = rules, .outcome = &outcome};
  return sarif({&run, 1}, program_version);
}

}  // namespace sallyport::jobs
