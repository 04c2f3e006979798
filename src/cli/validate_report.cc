#include "cli/validate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/text/printable.h"
#include "core/text/units.h"

namespace sallyport::cli {
namespace {

// Lines to show of a stage that did not pass: enough to see its output, few enough to keep the verdict visible.
constexpr std::size_t kShownLines = 16;
constexpr std::size_t kShownFindings = 40;

std::string why_of(const jobs::Verdict& verdict) {
  if (const auto* const other = std::get_if<jobs::NotNpm>(&verdict)) return other->why;
  if (const auto* const unknown = std::get_if<jobs::Incomplete>(&verdict)) return unknown->why;
  return {};
}

Json texts(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(json_text(value));
  return list;
}

Json finding_json(const jobs::Finding& finding, jobs::Severity threshold) {
  return {{"rule", finding.rule},
          {"severity", jobs::name_of(finding.severity)},
          {"message", json_text(finding.message)},
          {"path", json_text(finding.place.path)},
          {"line", finding.place.line},
          {"fingerprint", finding.fingerprint},
          {"fails", finding.severity >= threshold}};
}

Json step_json(const jobs::Step& step) {
  Json entry = {{"argv", texts(step.argv)}};
  if (step.outcome) entry.update(json_of(*step.outcome));
  if (step.refusal) entry["error"] = json_of(*step.refusal);
  entry["duration_us"] = step.duration.count();
  if (step.outcome) {
    entry["usage"] = json_of(step.usage);
    entry["receipt"] = json_of(step.receipt);
  }
  Json denials = Json::array();
  for (const Denial& denial : step.denials) denials.push_back(json_of(denial));
  entry["denials"] = std::move(denials);
  entry["stdout_tail"] = json_text(step.stdout_tail);
  entry["stderr_tail"] = json_text(step.stderr_tail);
  return entry;
}

Json stage_json(const jobs::StageResult& stage, jobs::Severity threshold) {
  Json findings = Json::array();
  for (const jobs::Finding& finding : stage.findings) findings.push_back(finding_json(finding, threshold));
  Json steps = Json::array();
  for (const jobs::Step& step : stage.steps) steps.push_back(step_json(step));
  return {{"name", jobs::name_of(stage.stage)},    {"state", jobs::name_of(stage.state)}, {"why", json_text(stage.why)},
          {"duration_ms", stage.duration.count()}, {"findings", std::move(findings)},     {"steps", std::move(steps)}};
}

Json change_json(const Change& change) {
  Json entry = {{"path", json_text(change.path)},    {"change", name_of(change.kind)},
                {"before", name_of(change.before)},  {"after", name_of(change.after)},
                {"mode_before", change.mode_before}, {"mode_after", change.mode_after},
                {"size_before", change.size_before}, {"size_after", change.size_after}};
  if (change.xattrs_changed) entry["xattrs_changed"] = true;
  if (!change.link_before.empty()) entry["link_before"] = json_text(change.link_before);
  if (!change.link_after.empty()) entry["link_after"] = json_text(change.link_after);
  return entry;
}

std::string last_lines(std::string_view text, std::size_t most) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::string out;
  for (std::size_t i = lines.size() > most ? lines.size() - most : 0; i < lines.size(); ++i) {
    out += fmt::format("    | {}\n", printable(lines[i]));
  }
  return out;
}

void add_stage(std::string& text, const jobs::StageResult& stage) {
  const bool ran = stage.state != jobs::StageState::kSkipped;
  text += fmt::format("{:<8} {:<11} {:>9}  {}\n", jobs::name_of(stage.stage), jobs::name_of(stage.state),
                      ran ? format_duration(stage.duration) : std::string("-"), printable(stage.why));
}

void add_words(std::string& text, const jobs::StageResult& stage) {
  const bool of_interest = stage.state == jobs::StageState::kFailed || stage.state == jobs::StageState::kDenied ||
                           stage.state == jobs::StageState::kLimited || stage.state == jobs::StageState::kIncomplete;
  if (!of_interest || stage.steps.empty()) return;
  const jobs::Step& step = stage.steps.back();
  const std::string said = last_lines(step.stdout_tail, kShownLines) + last_lines(step.stderr_tail, kShownLines);
  if (!said.empty()) text += fmt::format("\n{} said last:\n{}", jobs::name_of(stage.stage), said);
}

void add_denials(std::string& text, const jobs::ValidateReport& report) {
  std::string lines;
  for (const jobs::StageResult& stage : report.stages) {
    for (const jobs::Step& step : stage.steps) {
      for (const Denial& denial : step.denials) {
        const std::string where = denial.port == 0 ? denial.host : fmt::format("{}:{}", denial.host, denial.port);
        lines += fmt::format("  {:<8} {} ({}{})\n", jobs::name_of(stage.stage), printable(where), reason_text(denial),
                             denial.count > 1 ? fmt::format(", {} times", denial.count) : std::string());
      }
    }
  }
  if (!lines.empty()) text += "\nit reached for, and was refused:\n" + lines;
}

void add_findings(std::string& text, const jobs::ValidateReport& report, jobs::Severity threshold) {
  std::vector<const jobs::Finding*> findings;
  for (const jobs::StageResult& stage : report.stages) {
    for (const jobs::Finding& finding : stage.findings) findings.push_back(&finding);
  }
  if (findings.empty()) return;
  std::ranges::stable_sort(findings, std::ranges::greater(),
                           [](const jobs::Finding* finding) { return finding->severity; });
  text += "\nfound in the lock file:\n";
  for (std::size_t i = 0; i < std::min(findings.size(), kShownFindings); ++i) {
    const jobs::Finding& finding = *findings[i];
    text += fmt::format("  {:<8} {:<22} {}{}\n", jobs::name_of(finding.severity), finding.rule,
                        printable(finding.message), finding.severity >= threshold ? "" : " (does not fail)");
  }
  if (findings.size() > kShownFindings) {
    text += fmt::format("  … and {} more; --json and --sarif have all\n", findings.size() - kShownFindings);
  }
}

void add_changes(std::string& text, const jobs::ValidateReport& report) {
  if (!report.changes_problem.empty()) {
    text += fmt::format("\nwhat it changed could not be listed: {}\n", printable(report.changes_problem));
    return;
  }
  if (report.changes.changes.empty()) return;
  std::array<std::size_t, 5> counts{};
  for (const Change& change : report.changes.changes) ++counts.at(static_cast<std::size_t>(change.kind));
  text += fmt::format("\nchanged in the workspace, and thrown away: {} created, {} changed, {} deleted\n",
                      counts.at(static_cast<std::size_t>(ChangeKind::kCreated)),
                      counts.at(static_cast<std::size_t>(ChangeKind::kChanged)) +
                          counts.at(static_cast<std::size_t>(ChangeKind::kReplaced)) +
                          counts.at(static_cast<std::size_t>(ChangeKind::kMetadata)),
                      counts.at(static_cast<std::size_t>(ChangeKind::kDeleted)));
  // Leave out node_modules: npm installs there, and each program there is executable.
  std::vector<const PersistenceFinding*> findings;
  std::size_t installed = 0;
  for (const PersistenceFinding& finding : report.changes.findings) {
    const bool by_npm = finding.path.starts_with("node_modules/") && finding.severity != PersistenceSeverity::kHigh;
    if (by_npm) ++installed;
    if (!by_npm) findings.push_back(&finding);
  }
  std::ranges::stable_sort(findings, std::ranges::greater(),
                           [](const PersistenceFinding* finding) { return finding->severity; });
  if (!findings.empty()) text += "of these would run later, outside:\n";
  for (std::size_t i = 0; i < std::min(findings.size(), kShownFindings); ++i) {
    text += fmt::format("  {:<8} {:<22} {}: {}\n", name_of(findings[i]->severity), findings[i]->rule,
                        printable(findings[i]->path), printable(findings[i]->reason));
  }
  if (findings.size() > kShownFindings) {
    text += fmt::format("  … and {} more; --json has all\n", findings.size() - kShownFindings);
  }
  if (installed > 0) text += fmt::format("  and {} of what npm installed below node_modules\n", installed);
}

}  // namespace

Json validate_record(const jobs::ValidateReport& report, jobs::Severity threshold, int code) {
  Json stages = Json::array();
  for (const jobs::StageResult& stage : report.stages) stages.push_back(stage_json(stage, threshold));
  Json changes = Json::array();
  for (const Change& change : report.changes.changes) changes.push_back(change_json(change));
  Json persistence = Json::array();
  for (const PersistenceFinding& finding : report.changes.findings) {
    persistence.push_back({{"path", json_text(finding.path)},
                           {"rule", finding.rule},
                           {"severity", name_of(finding.severity)},
                           {"reason", json_text(finding.reason)}});
  }
  const std::optional<jobs::StageId> stage = jobs::stage_of(report.verdict);
  return {{"schema", "sallyport.validate/1"},
          {"exit_code", code},
          {"verdict", jobs::name_of(report.verdict)},
          {"stage", stage ? Json(jobs::name_of(*stage)) : Json(nullptr)},
          {"why", json_text(why_of(report.verdict))},
          {"registry", json_text(report.registry)},
          {"stages", std::move(stages)},
          {"cache",
           {{"wanted", report.cache.wanted},
            {"cached", report.cache.cached},
            {"added", report.cache.added},
            {"rejected", texts(report.cache.rejected)},
            {"problem", json_text(report.cache.problem)}}},
          {"changes", std::move(changes)},
          {"changes_problem", json_text(report.changes_problem)},
          {"persistence", std::move(persistence)},
          {"notes", texts(report.notes)}};
}

std::string validate_text(const jobs::ValidateReport& report, jobs::Severity threshold) {
  std::string text;
  const bool has_stages = !std::holds_alternative<jobs::NotNpm>(report.verdict);
  if (has_stages) {
    for (const jobs::StageResult& stage : report.stages) add_stage(text, stage);
    for (const jobs::StageResult& stage : report.stages) add_words(text, stage);
    add_denials(text, report);
    add_findings(text, report, threshold);
    add_changes(text, report);
    const jobs::CacheReport& cache = report.cache;
    if (cache.wanted > 0) {
      text += fmt::format("\ntarballs: {} named, {} of them cached before, {} added to the cache\n", cache.wanted,
                          cache.cached, cache.added);
    }
    if (!cache.problem.empty()) text += fmt::format("the cache was not used: {}\n", printable(cache.problem));
    for (const std::string& note : report.notes) text += fmt::format("note: {}\n", printable(note));
    text += '\n';
  }
  const std::optional<jobs::StageId> stage = jobs::stage_of(report.verdict);
  const std::string why = why_of(report.verdict);
  text += fmt::format("verdict: {}{}{}\n", jobs::name_of(report.verdict),
                      stage ? fmt::format(" ({})", jobs::name_of(*stage)) : std::string(),
                      why.empty() ? why : ": " + printable(why));
  return text;
}

}  // namespace sallyport::cli
