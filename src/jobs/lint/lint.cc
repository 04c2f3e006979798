#include "jobs/lint/lint.h"

#include <algorithm>
#include <set>

#include "jobs/report/ast_grep.h"
#include "jobs/report/places.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kProbe = "lint";

const Exception* find_exception(const std::vector<Exception>& exceptions, const Finding& finding) {
  const auto found = std::ranges::find_if(exceptions, [&](const Exception& exception) {
    return (exception.rule == "*" || exception.rule == finding.rule) &&
           path_matches(exception.path, finding.place.path);
  });
  return found == exceptions.end() ? nullptr : &*found;
}

}  // namespace

bool counts(const Finding& finding) {
  return !finding.suppression || finding.suppression->kind == Suppression::Kind::kInSource;
}

LintReport lint(const JobContext& context, const LintOptions& options) {
  const Result<Survey> files = survey(context.repo);
  if (!files) return {.outcome = failed(files.error().message)};
  if (!files->unread.empty()) return {.outcome = failed("a directory cannot be listed: " + files->unread.front())};
  std::optional<std::vector<std::string>> only;
  if (options.changed_since) {
    auto changed = changed_files(context, *options.changed_since);
    if (auto* outcome = std::get_if<ScannerOutcome>(&changed)) return {.outcome = std::move(*outcome)};
    only = std::get<std::vector<std::string>>(std::move(changed));
  }
  LintReport report{.outcome = run_ast_grep(context, kProbe, *files, only)};
  auto* const ran = std::get_if<Ran>(&report.outcome);
  if (ran == nullptr) return report;
  std::set<unsigned> used;
  for (Finding& finding : ran->findings) {
    const Exception* const exception = find_exception(options.exceptions, finding);
    if (exception == nullptr) continue;
    used.insert(exception->line);
    finding.suppression = Suppression{.kind = Suppression::Kind::kExternal, .justification = exception->reason};
  }
  add_fingerprints(context.repo, ran->findings);
  // After a scan of some files we cannot judge exceptions for the others.
  if (only) return report;
  std::ranges::copy_if(options.exceptions, std::back_inserter(report.unused),
                       [&](const Exception& exception) { return !used.contains(exception.line); });
  return report;
}

int lint_exit_code(const LintReport& report) {
  if (!is_complete(report.outcome)) return 2;
  const auto* const ran = std::get_if<Ran>(&report.outcome);
  return ran != nullptr && std::ranges::any_of(ran->findings, counts) ? 1 : 0;
}

}  // namespace sallyport::jobs
