// What the audit log keeps of a whole scan.
#include <algorithm>
#include <string>

#include "jobs/probe/probe.h"
#include "sallyport/audit.h"
#include "sallyport/digest.h"

namespace sallyport::jobs {
namespace {

JobResult result_of(const ScannerOutcome& outcome, Severity threshold) {
  if (std::holds_alternative<NotApplicable>(outcome)) return JobResult::kSkipped;
  const auto* const ran = std::get_if<Ran>(&outcome);
  if (ran == nullptr) return JobResult::kIncomplete;
  if (std::ranges::any_of(ran->findings, [&](const Finding& finding) { return fails(finding, threshold); })) {
    return JobResult::kFailed;
  }
  return ran->findings.empty() ? JobResult::kPassed : JobResult::kWarned;
}

std::string why(const ScannerOutcome& outcome) {
  const auto* const ran = std::get_if<Ran>(&outcome);
  if (ran == nullptr) return why_of(outcome);
  return ran->findings.empty() ? std::string() : std::to_string(ran->findings.size()) + " findings";
}

}  // namespace

AuditJob audit_of(const ProbeReport& report, const ProbeOptions& options, Severity threshold) {
  constexpr std::string_view kVerdicts[] = {"clean", "findings", "incomplete"};
  AuditJob job{.name = "probe"};
  bool warned = false;
  for (const ProbeResult& result : report.results) {
    job.steps.push_back({.name = std::string(result.probe->name),
                         .result = result_of(result.outcome, threshold),
                         .why = why(result.outcome)});
    warned = warned || job.steps.back().result == JobResult::kWarned;
  }
  const int code = probe_exit_code(report, threshold);
  job.verdict = kVerdicts[code];
  job.result = code == 2 ? JobResult::kIncomplete : code == 1 ? JobResult::kFailed : JobResult::kPassed;
  if (job.result == JobResult::kPassed && warned) job.result = JobResult::kWarned;
  job.settings = {{"severity", std::string(name_of(threshold))},
                  {"changed", options.changed_since.value_or("")},
                  {"baseline", options.baseline ? sha256_hex(*options.baseline) : ""}};
  return job;
}

}  // namespace sallyport::jobs
