// Forbidden patterns (C30): process creation outside its one gate, and code that is made from data. ast-grep finds them, by
// rules that are data (jobs/report/rules), through our own gate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/lint/exceptions.h"
#include "jobs/report/context.h"
#include "sallyport/audit.h"

namespace sallyport::jobs {

struct LintOptions {
  std::vector<Exception> exceptions{};
  std::optional<std::string> changed_since{};  // only files that differ from this commit
};

struct LintReport {
  ScannerOutcome outcome{};
  std::vector<Exception> unused{};  // exceptions that excused nothing
};

// Keeps an excused finding as suppressed, with the exception's reason. A comment in the source excuses nothing: its
// finding is marked and counts.
[[nodiscard]] LintReport lint(const JobContext& context, const LintOptions& options);

// True when the finding fails the lint: all do except those that our exceptions excuse.
[[nodiscard]] bool counts(const Finding& finding);

// 0 clean, 1 findings, 2 could not complete.
[[nodiscard]] int lint_exit_code(const LintReport& report);

// For the audit log: its one scanner is a step.
[[nodiscard]] AuditJob audit_of(const LintReport& report, const LintOptions& options);

}  // namespace sallyport::jobs
