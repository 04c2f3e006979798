// The scanners over one repo (C31). Each probe is one file: its command line, what it may reach, a pure parser of what it
// printed, its rules. A probe that did not really scan can never look like one that found nothing (C38).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/report/context.h"
#include "jobs/report/survey.h"
#include "sallyport/audit.h"

namespace sallyport::jobs {

struct ProbeInput {
  const JobContext* context = nullptr;
  const Survey* files = nullptr;
};

struct Probe {
  std::string_view name;     // a ProbeId
  std::string_view tool;     // the allowlisted program it starts; empty: none
  std::string_view summary;  // one line: what it looks for
  std::vector<RuleInfo> (*rules)();
  ScannerOutcome (*run)(const ProbeInput& input);
};

// In the fixed order of every report.
[[nodiscard]] std::span<const Probe* const> probes();
[[nodiscard]] const Probe* find_probe(std::string_view name);

struct ProbeResult {
  const Probe* probe = nullptr;
  ScannerOutcome outcome{};
  std::chrono::milliseconds duration{};
};

// Called from the threads that run the probes, one call at a time: when a probe starts (no result) and when it ends.
using Progress = std::function<void(const Probe&, const ProbeResult*)>;

struct ProbeOptions {
  std::vector<const Probe*> selected{};
  std::size_t parallel = 1;
  std::optional<std::string> changed_since{};  // keep only findings in files that differ from this commit
  std::optional<std::string> baseline{};       // the text of an earlier SARIF report
  Progress progress{};
};

struct ProbeReport {
  std::vector<ProbeResult> results{};  // in the order of `selected`, then "blinding"
  std::string problem{};               // why the scan could not run at all: no directory, no such commit, no baseline
};

// The context's memory is one budget for all: it is divided by `parallel`.
[[nodiscard]] ProbeReport run_probes(const JobContext& context, const ProbeOptions& options);

// A finding fails the scan if it is at or above `threshold` and not in the baseline. A suppression by the scanned repo
// has no effect: the repo does not decide.
[[nodiscard]] bool fails(const Finding& finding, Severity threshold);
// 0 clean, 1 findings, 2 could not complete; 2 takes precedence over 1.
[[nodiscard]] int probe_exit_code(const ProbeReport& report, Severity threshold);

// For the audit log: each scanner a step. A scanner whose findings are all below `threshold` warned.
[[nodiscard]] AuditJob audit_of(const ProbeReport& report, const ProbeOptions& options, Severity threshold);

// Reports as documents. Pure; hostile names and texts are escaped.
[[nodiscard]] std::string markdown_report(const ProbeReport& report, Severity threshold);
[[nodiscard]] std::string html_report(const ProbeReport& report, Severity threshold, std::string_view repo);
[[nodiscard]] std::string sarif_report(const ProbeReport& report, std::string_view version);

}  // namespace sallyport::jobs
