// semgrep with our rules. We cannot switch off the repo's .semgrepignore, but semgrep lists what it hid: we pass those
// files again by name, and then semgrep scans them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jobs/probe/all.h"
#include "jobs/probe/parsers.h"
#include "jobs/report/ast_grep.h"
#include "jobs/report/bounded_json.h"
#include "jobs/report/text.h"
#include "sallyport/sandboxed_path.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kRules =
#include "semgrep_rules.inc"
    ;
constexpr std::size_t kMostPathBytes = 96 << 10;
constexpr std::string_view kRuleId = "semgrep";
// Reasons for a skipped file that come from the repo.
constexpr auto kHiddenBy =
    std::to_array<std::string_view>({"semgrepignore_patterns_match", "gitignore_patterns_match", "dotfile"});

// Reasons for a skipped file that it should have scanned: a NUL byte, a size, a crash of its parser.
constexpr auto kNotLookedAt = std::to_array<std::string_view>({"binary", "minified", "exceeded_size_limit", "too_big",
                                                               "analysis_failed_parser_or_internal_error",
                                                               "excluded_by_config", "insufficient_permissions"});

std::vector<RuleInfo> semgrep_rules() {
  return {{.id = std::string(kRuleId),
           .severity = Severity::kHigh,
           .summary = "a forbidden pattern, by our rules for semgrep",
           .help = "See the name of the rule in the message"}};
}

Severity semgrep_severity(std::string_view name) {
  if (name == "CRITICAL") return Severity::kCritical;
  if (name == "ERROR" || name == "HIGH") return Severity::kHigh;
  if (name == "INFO" || name == "LOW") return Severity::kLow;
  return Severity::kMedium;
}

std::vector<std::string> command_for(const std::filesystem::path& rules, std::span<const std::string> places) {
  std::vector<std::string> argv{"semgrep",
                                "scan",
                                "--config",
                                rules.native(),
                                "--json",
                                "--verbose",
                                "--no-git-ignore",
                                "--disable-nosem",
                                "--max-target-bytes=0",
                                "--no-rewrite-rule-ids",
                                "--scan-unknown-extensions"};
  argv.insert(argv.end(), places.begin(), places.end());
  return argv;
}

std::optional<ScannerOutcome> scan(const ProbeInput& input, std::span<const std::string> places, Ran& ran,
                                   SemgrepOutput& out) {
  const std::filesystem::path rules = input.context->work_dir / "semgrep.yml";
  if (const Status written = write_own_file(rules, kRules); !written) return failed(written.error().message);
  ToolRun run =
      run_tool(*input.context,
               {.probe = "semgrep", .argv = command_for(rules, places), .extra_read_only = {input.context->work_dir}});
  if (auto* outcome = std::get_if<ScannerOutcome>(&run)) return std::move(*outcome);
  auto& answer = std::get<ToolAnswer>(run);
  if (answer.invocation.exit_code != 0) {
    return failed(answer, fmt::format("semgrep exited with {}", answer.invocation.exit_code.value_or(-1)));
  }
  auto parsed = parse_semgrep(answer.out());
  if (!parsed) return failed(answer, "its output was not understood: " + parsed.error());
  if (parsed->scanned == 0 && parsed->hidden.empty() && !input.files->files.empty())
    return failed(answer, "it scanned no file");
  out = *std::move(parsed);
  std::ranges::move(out.parsed.findings, std::back_inserter(ran.findings));
  ran.invocations.push_back(std::move(answer.invocation));
  return std::nullopt;
}

// --disable-nosem shows what a comment would have hidden; the comment itself is still there to be seen.
void mark_nosem(const JobContext& context, std::vector<Finding>& findings) {
  const Result<SandboxedPath> root = SandboxedPath::open_root(context.repo);
  if (!root) return;
  for (Finding& finding : findings) {
    const Result<std::string> content = root->read_file(finding.place.path, mebibytes(16));
    if (!content) continue;
    std::string_view rest = *content;
    for (std::uint32_t line = 1; line < finding.place.line && !rest.empty(); ++line) {
      rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    }
    if (rest.substr(0, rest.find('\n')).find("nosem") == std::string_view::npos) continue;
    finding.suppression =
        Suppression{.kind = Suppression::Kind::kInSource, .justification = "a comment of the repo: nosemgrep"};
  }
}

ScannerOutcome run_semgrep(const ProbeInput& input) {
  if (input.files->files.empty()) return NotApplicable{.why = "no files"};
  Ran ran;
  SemgrepOutput out;
  const std::vector<std::string> everything{"."};
  if (auto outcome = scan(input, everything, ran, out)) return *std::move(outcome);
  const std::vector<std::string> hidden = std::move(out.hidden);
  for (std::size_t at = 0; at < hidden.size();) {
    std::vector<std::string> places;
    for (std::size_t bytes = 0; at < hidden.size() && bytes < kMostPathBytes; ++at) {
      places.push_back("./" + hidden[at]);
      bytes += hidden[at].size() + 3;
    }
    SemgrepOutput again;
    if (auto outcome = scan(input, places, ran, again)) return *std::move(outcome);
    if (!again.hidden.empty())
      return failed("an ignore file of the repo hides " + shown(again.hidden.front()) + " from semgrep");
  }
  mark_nosem(*input.context, ran.findings);
  sort_and_merge(ran.findings);
  return ran;
}

OrWhy<void> add_results(const InJson& results, Parsed& parsed) {
  for (const InJson& result : results) {
    const std::string* const check = string_member(result, "check_id");
    const std::string* const path = string_member(result, "path");
    const InJson* const start = member(result, "start");
    const InJson* const end = member(result, "end");
    const InJson* const extra = member(result, "extra");
    const auto line = start == nullptr ? std::nullopt : number_member(*start, "line");
    if (check == nullptr || path == nullptr || end == nullptr || extra == nullptr || !line) {
      return std::unexpected(std::string("a result without its fields"));
    }
    const std::string* const severity = string_member(*extra, "severity");
    // Not semgrep's message: it may quote the source, and with it a secret.
    parsed.findings.push_back({.rule = std::string(kRuleId),
                               .severity = semgrep_severity(severity == nullptr ? "" : *severity),
                               .message = "a forbidden pattern, by the rule " + *check,
                               .place = {.path = path->starts_with("./") ? path->substr(2) : *path,
                                         .line = *line,
                                         .column = number_member(*start, "col").value_or(1),
                                         .end_line = number_member(*end, "line").value_or(*line),
                                         .end_column = number_member(*end, "col").value_or(1)}});
  }
  return {};
}

}  // namespace

OrWhy<SemgrepOutput> parse_semgrep(std::string_view json) {
  const auto document = parse_bounded(json);
  if (!document) return std::unexpected(document.error());
  const InJson* const results = array_member(*document, "results");
  const InJson* const errors = array_member(*document, "errors");
  const InJson* const paths = member(*document, "paths");
  const InJson* const scanned = paths == nullptr ? nullptr : array_member(*paths, "scanned");
  if (string_member(*document, "version") == nullptr || results == nullptr || errors == nullptr || scanned == nullptr) {
    return std::unexpected(std::string("not a report of semgrep"));
  }
  for (const InJson& error : *errors) {
    const std::string* const level = string_member(error, "level");
    if (level == nullptr || *level == "error") return std::unexpected(std::string("it reports errors of its own"));
  }
  SemgrepOutput out{.parsed = {}, .scanned = scanned->size(), .hidden = {}};
  if (const auto added = add_results(*results, out.parsed); !added) return std::unexpected(added.error());
  const InJson* const skipped = array_member(*paths, "skipped");
  for (std::size_t i = 0; skipped != nullptr && i < skipped->size(); ++i) {
    const std::string* const path = string_member((*skipped)[i], "path");
    const std::string* const reason = string_member((*skipped)[i], "reason");
    if (path == nullptr || reason == nullptr) return std::unexpected(std::string("a skipped file without its reason"));
    if (std::ranges::find(kHiddenBy, *reason) != kHiddenBy.end()) out.hidden.push_back(*path);
    if (is_source_file(*path) && std::ranges::find(kNotLookedAt, *reason) != kNotLookedAt.end()) {
      return std::unexpected("it skipped " + shown(*path) + ": " + shown(*reason));
    }
  }
  return out;
}

extern constinit const Probe kSemgrep{.name = "semgrep",
                                      .tool = "semgrep",
                                      .summary = "forbidden patterns, by our own rules for semgrep",
                                      .rules = semgrep_rules,
                                      .run = run_semgrep};

}  // namespace sallyport::jobs
