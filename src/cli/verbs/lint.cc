// sallyport lint: forbidden patterns in a source tree, and their exceptions.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/console_events.h"
#include "cli/exit_code.h"
#include "cli/job_options.h"
#include "cli/option_table.h"
#include "cli/report_words.h"
#include "cli/verb.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "core/text/printable.h"
#include "jobs/lint/lint.h"
#include "jobs/report/ast_grep.h"
#include "jobs/report/sarif.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

struct LintCommand {
  JobOptions job{.repo = {},
                 .timeout = std::chrono::minutes(10),
                 .memory = {},
                 .allowed_egress = {},
                 .workspaces = {},
                 .audit = {},
                 .label = "lint"};
  std::optional<fs::path> exceptions{};
  std::optional<fs::path> sarif{};
  std::optional<std::string> changed{};
  bool list_rules = false;
  Format format = Format::kText;
};

int list_lint_rules(Format format) {
  if (format == Format::kText) {
    std::string text;
    for (const jobs::RuleInfo& rule : jobs::ast_grep_rules()) text += fmt::format("{:<28} {}\n", rule.id, rule.summary);
    return print_text(text, kExitOk);
  }
  Json rules = Json::array();
  for (const jobs::RuleInfo& rule : jobs::ast_grep_rules()) {
    rules.push_back({{"id", rule.id}, {"summary", rule.summary}, {"help", rule.help}});
  }
  return print_record({{"schema", "sallyport.lint_rules/1"}, {"rules", std::move(rules)}}, kExitOk);
}

std::string line_of(const jobs::Finding& finding) {
  const bool commented = finding.suppression && finding.suppression->kind == jobs::Suppression::Kind::kInSource;
  return fmt::format("{}:{}:{}: {}: {}{}\n", printable(finding.place.path), finding.place.line, finding.place.column,
                     finding.rule, finding.message, commented ? " (a comment in the source excuses nothing)" : "");
}

Json lint_record(const jobs::LintReport& report, const std::vector<jobs::Finding>& findings, const std::string& job) {
  Json list = Json::array();
  for (const jobs::Finding& finding : findings) {
    Json entry = {{"rule", finding.rule},
                  {"path", json_text(finding.place.path)},
                  {"line", finding.place.line},
                  {"column", finding.place.column},
                  {"message", finding.message},
                  {"counts", counts(finding)},
                  {"fingerprint", finding.fingerprint}};
    if (finding.suppression) entry["excused"] = finding.suppression->justification;
    list.push_back(std::move(entry));
  }
  Json unused = Json::array();
  for (const jobs::Exception& exception : report.unused) unused.push_back(exception.line);
  return {{"schema", "sallyport.lint/1"},        {"outcome", jobs::name_of(report.outcome)},
          {"why", jobs::why_of(report.outcome)}, {"audit_job", job.empty() ? Json(nullptr) : Json(job)},
          {"findings", std::move(list)},         {"unused_exceptions", std::move(unused)}};
}

int print_lint_text(const LintCommand& command, const jobs::LintReport& report,
                    const std::vector<jobs::Finding>& findings, int code) {
  std::string text;
  std::size_t counted = 0;
  for (const jobs::Finding& finding : findings) {
    if (!counts(finding)) continue;
    text += line_of(finding);
    ++counted;
  }
  const int printed = print_text(text, code);
  for (const jobs::Exception& exception : report.unused) {
    say(fmt::format("warning: {}:{}: this exception excuses nothing any more", command.exceptions->native(),
                    exception.line));
  }
  if (!is_complete(report.outcome)) {
    say(fmt::format("error: lint could not complete: {}", jobs::why_of(report.outcome)));
    if (const auto* missing = std::get_if<jobs::ToolMissing>(&report.outcome)) say_hint(missing->install_hint);
    if (const auto* failed = std::get_if<jobs::ScannerFailed>(&report.outcome);
        failed != nullptr && !failed->tail.empty()) {
      say(fmt::format("it said last: {}", failed->tail));
    }
  } else {
    say(fmt::format("{} finding{}, {} excused", counted, counted == 1 ? "" : "s", findings.size() - counted));
  }
  return printed;
}

Result<std::vector<jobs::Exception>> load_exceptions(const LintCommand& command, const Environment& environment) {
  if (!command.exceptions) return std::vector<jobs::Exception>();
  const fs::path path = fs::absolute(environment.current_directory / *command.exceptions);
  const SandboxedPath root = TRY(SandboxedPath::open_root(path.parent_path()));
  return jobs::parse_exceptions(TRY(root.read_file(path.filename(), mebibytes(1))), command.exceptions->native());
}

// The report, then the record that names it.
Status finish_lint(const LintCommand& command, const jobs::LintReport& report, const jobs::LintOptions& options,
                   Job& job) {
  AuditJob record = jobs::audit_of(report, options);
  if (command.sarif) {
    const jobs::SarifRun run{.tool = "sallyport lint",
                             .category = "sallyport/lint",
                             .rules = jobs::ast_grep_rules(),
                             .outcome = &report.outcome};
    record.outputs.push_back(TRY(job.write(*command.sarif, jobs::sarif(std::span(&run, 1), SALLYPORT_VERSION))));
  }
  return job.end(std::move(record));
}

int run_lint(const LintCommand& command, const Environment& environment) {
  if (command.list_rules) return list_lint_rules(command.format);
  ConsoleEvents events(command.format, Verbosity::kNormal);
  JobOptions how = command.job;
  if (command.sarif) how.outputs.push_back(*command.sarif);
  const Result<std::unique_ptr<Job>> job = Job::start(how, environment, events);
  if (!job) return incomplete(job.error(), command.format);
  Result<std::vector<jobs::Exception>> exceptions = load_exceptions(command, environment);
  if (!exceptions) return incomplete((*job)->refuse(exceptions.error()), command.format);
  const jobs::LintOptions options{.exceptions = *std::move(exceptions), .changed_since = command.changed};
  const jobs::LintReport answer = in_options(jobs::lint((*job)->context(), options));
  if (const Status finished = finish_lint(command, answer, options, **job); !finished) {
    return incomplete(finished.error(), command.format);
  }
  const auto* const ran = std::get_if<jobs::Ran>(&answer.outcome);
  const std::vector<jobs::Finding> none;
  const std::vector<jobs::Finding>& findings = ran == nullptr ? none : ran->findings;
  const int code = jobs::lint_exit_code(answer);
  if (command.format == Format::kJson) return print_record(lint_record(answer, findings, (*job)->id()), code);
  return print_lint_text(command, answer, findings, code);
}

constexpr auto kLintOptions =
    std::to_array<Option<LintCommand>>({{{"--exceptions", Arity::kValue}, set_path<&LintCommand::exceptions>},
                                        {{"--changed", Arity::kValue}, set_text<&LintCommand::changed>},
                                        {{"--sarif", Arity::kValue}, set_path<&LintCommand::sarif>},
                                        {{"--rules", Arity::kFlag}, set_flag<&LintCommand::list_rules, true>},
                                        {{"--audit", Arity::kValue}, set_job_audit<LintCommand>},
                                        {{"--no-audit", Arity::kFlag}, set_job_no_audit<LintCommand>},
                                        {{"--json", Arity::kFlag}, set_flag<&LintCommand::format, Format::kJson>}});

Result<Action> parse_lint(Args args, Format& format) {
  LintCommand command;
  const auto words = TRY(apply_options(args, kLintOptions, command, format));
  if (!words) return Action();
  TRY(take_repo(command, *words));
  return [command = std::move(command)](const Environment& environment) { return run_lint(command, environment); };
}

constexpr std::string_view kLintPage = R"(usage: sallyport lint [DIR] [--exceptions FILE] [--changed BASE] [OPTIONS]
Find process creation outside its one gate, and code made from data, in Python,
C, C++, JavaScript, TypeScript, Go and Rust. ast-grep looks, behind a jail.

  DIR                what to scan [the repo around the current directory]
  --exceptions FILE  lines of RULE PATH REASON; nothing else excuses a finding
  --changed BASE     only files that differ from this commit, or are untracked
  --sarif FILE       the findings as SARIF 2.1.0, excused ones marked
  --rules            list the rules
  --audit DIR, --no-audit   another log of the calls; none (sallyport help audit)
  --json             one record: {"schema":"sallyport.lint/1","findings":[...]}

Ignore files and comments of the tree hide nothing.

exit codes: 0 clean, 1 findings, 2 could not complete (ast-grep missing, killed,
not understood), 125 wrong usage

examples:
  sallyport lint --exceptions lint-exceptions.txt
  sallyport lint --changed origin/main --sarif lint.sarif
)";

}  // namespace

extern constinit const Verb kLintVerb{
    .name = "lint", .summary = "forbidden patterns in a source tree", .page = kLintPage, .parse = parse_lint};

}  // namespace sallyport::cli
