// Runs ast-grep over a repo with our own rules (rules/*.yml), so that the repo cannot blind it: the repo's sgconfig.yml
// and ignore files have no effect, a finding that a comment suppresses is reported as suppressed, and we give it
// readable copies of files that it would skip (name or content not UTF-8). ADR 0051.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/report/context.h"
#include "jobs/report/survey.h"

namespace sallyport::jobs {

// All rules, for all languages.
[[nodiscard]] std::span<const RuleInfo> ast_grep_rules();
// Whether one of our rules is for files of this name.
[[nodiscard]] bool is_source_file(std::string_view path);

struct AstGrepMatch {
  std::string rule{};
  Place place{};
};
// Pure: what `--json=stream` printed, or why it was not understood.
[[nodiscard]] std::expected<std::vector<AstGrepMatch>, std::string> parse_ast_grep(std::string_view json_lines);
// Pure: how many files `--inspect=summary` says were scanned and skipped.
struct AstGrepSummary {
  std::size_t scanned = 0;
  std::size_t skipped = 0;
};
[[nodiscard]] std::optional<AstGrepSummary> parse_ast_grep_summary(std::string_view stderr_text);

// `only`: these files and no others (paths of the survey); unset: all. The findings have no fingerprints yet.
[[nodiscard]] ScannerOutcome run_ast_grep(const JobContext& context, std::string_view probe, const Survey& files,
                                          const std::optional<std::vector<std::string>>& only);

}  // namespace sallyport::jobs
