// What the audit log keeps of a whole lint.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "jobs/lint/lint.h"
#include "sallyport/audit.h"
#include "sallyport/digest.h"

namespace sallyport::jobs {
namespace {

// The exceptions decide what "clean" means.
std::string digest_of(const std::vector<Exception>& exceptions) {
  std::string text;
  for (const Exception& exception : exceptions) {
    text += fmt::format("{} {} {}\n", exception.rule, exception.path, exception.reason);
  }
  return text.empty() ? std::string() : sha256_hex(text);
}

std::string why(const LintReport& report) {
  const auto* const ran = std::get_if<Ran>(&report.outcome);
  if (ran == nullptr) return why_of(report.outcome);
  const auto counted = std::ranges::count_if(ran->findings, counts);
  const auto excused = std::ssize(ran->findings) - counted;
  return ran->findings.empty() ? std::string() : fmt::format("{} findings, {} excused", counted, excused);
}

}  // namespace

AuditJob audit_of(const LintReport& report, const LintOptions& options) {
  constexpr std::string_view kVerdicts[] = {"clean", "findings", "incomplete"};
  constexpr JobResult kResults[] = {JobResult::kPassed, JobResult::kFailed, JobResult::kIncomplete};
  const int code = lint_exit_code(report);
  return {.name = "lint",
          .result = kResults[code],
          .verdict = std::string(kVerdicts[code]),
          .settings = {{"changed", options.changed_since.value_or("")}, {"exceptions", digest_of(options.exceptions)}},
          .steps = {{.name = "ast_grep", .result = kResults[code], .why = why(report)}}};
}

}  // namespace sallyport::jobs
