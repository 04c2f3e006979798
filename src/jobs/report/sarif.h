// SARIF 2.1.0 as GitHub accepts it: one run per tool, rules with help, fingerprints, suppressions, and an invocation
// with the tool's real result. Pure; writes text directly and builds no document in memory.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/report/outcome.h"

namespace sallyport::jobs {

struct SarifRun {
  std::string_view tool;
  std::string_view category;  // automationDetails.id is "category/"
  std::span<const RuleInfo> rules;
  const ScannerOutcome* outcome = nullptr;
};

[[nodiscard]] std::string sarif(std::span<const SarifRun> runs, std::string_view program_version);

// The fingerprints of an earlier report, "ruleId fingerprint" each; or why it is none.
[[nodiscard]] std::expected<std::vector<Finding>, std::string> read_baseline(std::string_view sarif_text,
                                                                             std::string_view tool);

}  // namespace sallyport::jobs
