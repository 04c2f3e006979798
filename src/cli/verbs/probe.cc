// sallyport probe: scanners over one repo, one honest answer.
#include <fmt/format.h>

#include <algorithm>
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
#include "cli/progress_lines.h"
#include "cli/report_words.h"
#include "cli/verb.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "core/text/did_you_mean.h"
#include "core/text/number.h"
#include "core/text/printable.h"
#include "core/text/units.h"
#include "jobs/probe/probe.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

struct ProbeCommand {
  bool list = false;
  std::vector<const jobs::Probe*> selected{};
  JobOptions job{.timeout = std::chrono::minutes(10), .label = "probe"};
  std::size_t parallel = 2;
  std::vector<std::string> without{};
  jobs::Severity threshold = jobs::Severity::kLow;
  std::optional<std::string> changed{};
  std::optional<fs::path> baseline{};
  std::optional<fs::path> sarif{};
  std::optional<fs::path> markdown{};
  std::optional<fs::path> html{};
  Format format = Format::kText;
};

int list_probes(Format format) {
  if (format == Format::kText) {
    std::string text;
    for (const jobs::Probe* probe : jobs::probes()) {
      text += fmt::format("{:<16} {:<16} {}\n", probe->name, probe->tool.empty() ? "-" : probe->tool, probe->summary);
    }
    return print_text(text, kExitOk);
  }
  Json list = Json::array();
  for (const jobs::Probe* probe : jobs::probes())
    list.push_back({{"name", probe->name}, {"tool", probe->tool}, {"summary", probe->summary}});
  return print_record({{"schema", "sallyport.probes/1"}, {"probes", std::move(list)}}, kExitOk);
}

Json finding_json(const jobs::Finding& finding, jobs::Severity threshold) {
  Json entry = {{"rule", finding.rule},
                {"severity", jobs::name_of(finding.severity)},
                {"message", finding.message},
                {"path", json_text(finding.place.path)},
                {"line", finding.place.line},
                {"column", finding.place.column},
                {"fingerprint", finding.fingerprint},
                {"fails", jobs::fails(finding, threshold)}};
  if (!finding.secret_sha256.empty()) entry["secret_sha256"] = finding.secret_sha256;
  if (finding.suppression) entry["suppressed"] = finding.suppression->justification;
  constexpr std::array<std::string_view, 4> kStates = {"", "new", "unchanged", "absent"};
  if (finding.baseline != jobs::BaselineState::kNone)
    entry["baseline"] = kStates.at(static_cast<std::size_t>(finding.baseline));
  return entry;
}

Json scanner_json(const jobs::ProbeResult& result, jobs::Severity threshold) {
  Json entry = {{"name", result.probe->name},
                {"outcome", jobs::name_of(result.outcome)},
                {"why", jobs::why_of(result.outcome)},
                {"duration_ms", result.duration.count()}};
  Json findings = Json::array();
  Json inventory = Json::array();
  Json receipts = Json::array();
  if (const auto* ran = std::get_if<jobs::Ran>(&result.outcome)) {
    for (const jobs::Finding& finding : ran->findings) findings.push_back(finding_json(finding, threshold));
    for (const jobs::InventoryItem& item : ran->inventory) {
      inventory.push_back({{"kind", item.kind},
                           {"name", json_text(item.name)},
                           {"detail", json_text(item.detail)},
                           {"path", json_text(item.path)}});
    }
    for (const jobs::Invocation& call : ran->invocations) {
      receipts.push_back({{"jail", call.receipt.jail.name()}, {"digest", jobs::receipt_digest(call.receipt)}});
    }
  }
  if (const auto* failed = std::get_if<jobs::ScannerFailed>(&result.outcome)) entry["tail"] = failed->tail;
  entry["findings"] = std::move(findings);
  entry["inventory"] = std::move(inventory);
  entry["receipts"] = std::move(receipts);
  return entry;
}

int print_probe_record(const jobs::ProbeReport& report, jobs::Severity threshold, const std::string& job, int code) {
  Json scanners = Json::array();
  for (const jobs::ProbeResult& result : report.results) scanners.push_back(scanner_json(result, threshold));
  return print_record({{"schema", "sallyport.probe/1"},
                       {"exit_code", code},
                       {"problem", report.problem},
                       {"audit_job", job.empty() ? Json(nullptr) : Json(job)},
                       {"scanners", std::move(scanners)}},
                      code);
}

// "file:line:column", or only the file when the finding concerns all of it.
std::string place_text(const jobs::Place& place) {
  const std::string path = printable(place.path.empty() ? "." : place.path);
  return place.line == 0 ? path : fmt::format("{}:{}:{}", path, place.line, place.column);
}

int print_probe_text(const jobs::ProbeReport& report, jobs::Severity threshold, int code) {
  std::string text;
  for (const jobs::ProbeResult& result : report.results) {
    const auto* const ran = std::get_if<jobs::Ran>(&result.outcome);
    for (std::size_t i = 0; ran != nullptr && i < ran->findings.size(); ++i) {
      const jobs::Finding& finding = ran->findings[i];
      if (finding.severity < threshold || finding.baseline == jobs::BaselineState::kAbsent) continue;
      text +=
          fmt::format("{}: {}: {}: {}{}{}\n", place_text(finding.place), jobs::name_of(finding.severity), finding.rule,
                      printable(finding.message), finding.suppression ? " (suppressed by the repo)" : "",
                      finding.baseline == jobs::BaselineState::kUnchanged ? " (known)" : "");
    }
  }
  for (const jobs::ProbeResult& result : report.results) {
    const auto* const ran = std::get_if<jobs::Ran>(&result.outcome);
    text +=
        fmt::format("{:<16} {:<20} {}\n", result.probe->name, jobs::name_of(result.outcome),
                    ran != nullptr ? fmt::format("{} findings, {} listed", ran->findings.size(), ran->inventory.size())
                                   : printable(jobs::why_of(result.outcome)));
    if (const auto* failed = std::get_if<jobs::ScannerFailed>(&result.outcome);
        failed != nullptr && !failed->tail.empty()) {
      text += fmt::format("{:<16} it said last: {}\n", "", printable(failed->tail));
    }
  }
  const int printed = print_text(text, code);
  if (!report.problem.empty()) say(fmt::format("error: {}", report.problem));
  if (code == kJobIncomplete) say("error: not every scanner ran; what did not run is not clean");
  return printed;
}

Result<std::vector<AuditJobFile>> write_documents(const ProbeCommand& command, const jobs::ProbeReport& report,
                                                  const Job& job) {
  std::vector<AuditJobFile> files;
  const auto write = [&](const fs::path& name, std::string_view text) -> Status {
    files.push_back(TRY(job.write(name, text)));
    return {};
  };
  if (command.sarif) TRY(write(*command.sarif, jobs::sarif_report(report, SALLYPORT_VERSION)));
  if (command.markdown) TRY(write(*command.markdown, jobs::markdown_report(report, command.threshold)));
  if (command.html)
    TRY(write(*command.html, jobs::html_report(report, command.threshold, job.context().repo.native())));
  return files;
}

// The reports, then the record that names them.
Status finish_job(const ProbeCommand& command, const jobs::ProbeReport& report, const jobs::ProbeOptions& options,
                  Job& job) {
  AuditJob record = jobs::audit_of(report, options, command.threshold);
  record.outputs = TRY(write_documents(command, report, job));
  return job.end(std::move(record));
}

Result<std::optional<std::string>> read_baseline_file(const ProbeCommand& command, const Environment& environment) {
  if (!command.baseline) return std::nullopt;
  const fs::path path = fs::absolute(environment.current_directory / *command.baseline);
  const SandboxedPath root = TRY(SandboxedPath::open_root(path.parent_path()));
  return std::optional<std::string>(TRY(root.read_file(path.filename(), mebibytes(256))));
}

int run_probe_verb(const ProbeCommand& command, const Environment& environment) {
  if (command.list) return list_probes(command.format);
  ConsoleEvents events(command.format, Verbosity::kNormal);
  JobOptions how = command.job;
  for (const std::optional<fs::path>& report : {command.sarif, command.markdown, command.html}) {
    if (report) how.outputs.push_back(*report);
  }
  const Result<std::unique_ptr<Job>> job = Job::start(how, environment, events);
  if (!job) return incomplete(job.error(), command.format);
  Result<std::optional<std::string>> baseline = read_baseline_file(command, environment);
  if (!baseline) return incomplete((*job)->refuse(baseline.error()), command.format);
  std::vector<std::string> names;
  for (const jobs::Probe* probe : command.selected) names.emplace_back(probe->name);
  ProgressLines lines(names);
  const jobs::ProbeOptions options{
      .selected = command.selected,
      .parallel = command.parallel,
      .changed_since = command.changed,
      .baseline = *std::move(baseline),
      .progress = [&](const jobs::Probe& probe, const jobs::ProbeResult* result) {
        lines.update(probe.name, result == nullptr ? fmt::format("looks for {}", probe.summary)
                                                   : fmt::format("{} after {}", jobs::name_of(result->outcome),
                                                                 format_duration(result->duration)));
      }};
  const jobs::ProbeReport answer = in_options(jobs::run_probes((*job)->context(), options));
  if (const Status finished = finish_job(command, answer, options, **job); !finished) {
    return incomplete(finished.error(), command.format);
  }
  const int code = jobs::probe_exit_code(answer, command.threshold);
  if (command.format == Format::kJson) return print_probe_record(answer, command.threshold, (*job)->id(), code);
  return print_probe_text(answer, command.threshold, code);
}

Status set_parallel(ProbeCommand& command, std::string_view value) {
  const auto number = whole_number<std::size_t>(value);
  if (!number || *number == 0 || *number > 64) return fail(invalid_request("-j", "must be from 1 to 64", "e.g. -j 2"));
  command.parallel = *number;
  return {};
}
Status add_host(ProbeCommand& command, std::string_view value) {
  command.job.allowed_egress.emplace_back(value);
  return {};
}
Status add_without(ProbeCommand& command, std::string_view value) {
  if (jobs::find_probe(value) == nullptr)
    return fail(invalid_request("--without", "there is no such probe", "sallyport probe list shows them"));
  command.without.emplace_back(value);
  return {};
}
Status set_severity(ProbeCommand& command, std::string_view value) {
  command.threshold = TRY(parse_severity(value));
  return {};
}

constexpr auto kProbeOptions =
    std::to_array<Option<ProbeCommand>>({{{"-j", Arity::kValue}, set_parallel},
                                         {{"--timeout", Arity::kValue}, set_job_timeout<ProbeCommand>},
                                         {{"--memory", Arity::kValue}, set_job_memory<ProbeCommand>},
                                         {{"--allow-host", Arity::kRepeatable}, add_host},
                                         {{"--without", Arity::kRepeatable}, add_without},
                                         {{"--severity", Arity::kValue}, set_severity},
                                         {{"--changed", Arity::kValue}, set_text<&ProbeCommand::changed>},
                                         {{"--baseline", Arity::kValue}, set_path<&ProbeCommand::baseline>},
                                         {{"--sarif", Arity::kValue}, set_path<&ProbeCommand::sarif>},
                                         {{"--markdown", Arity::kValue}, set_path<&ProbeCommand::markdown>},
                                         {{"--html", Arity::kValue}, set_path<&ProbeCommand::html>},
                                         {{"--audit", Arity::kValue}, set_job_audit<ProbeCommand>},
                                         {{"--no-audit", Arity::kFlag}, set_job_no_audit<ProbeCommand>},
                                         {{"--json", Arity::kFlag}, set_flag<&ProbeCommand::format, Format::kJson>}});

Status take_words(ProbeCommand& command, std::span<const std::string_view> words) {
  if (words.empty())
    return fail(
        invalid_request("arguments", "no probe was named", "sallyport probe list shows them; all runs every one"));
  if (words.size() > 2) return fail(superfluous_word(words[2]));
  if (words.size() == 2) command.job.repo = fs::path(words[1]);
  if (words[0] == "list") {
    command.list = true;
    if (words.size() > 1) return fail(superfluous_word(words[1]));
    return {};
  }
  const jobs::Probe* const one = jobs::find_probe(words[0]);
  if (one == nullptr && words[0] != "all") {
    std::vector<std::string_view> names{"all", "list"};
    for (const jobs::Probe* probe : jobs::probes()) names.push_back(probe->name);
    return fail(unknown_word("probe", words[0], names));
  }
  if (one != nullptr) command.selected = {one};
  for (const jobs::Probe* probe : jobs::probes()) {
    if (one == nullptr && std::ranges::find(command.without, probe->name) == command.without.end())
      command.selected.push_back(probe);
  }
  return {};
}

Result<Action> parse_probe(Args args, Format& format) {
  ProbeCommand command;
  const auto words = TRY(apply_options(args, kProbeOptions, command, format));
  if (!words) return Action();
  TRY(take_words(command, *words));
  return
      [command = std::move(command)](const Environment& environment) { return run_probe_verb(command, environment); };
}

constexpr std::string_view kProbePage = R"(usage: sallyport probe list | NAME [REPO] | all [REPO] [OPTIONS]
Run scanners over a repo you do not trust, each behind a jail. The repo can
neither steer nor blind them, and one that did not run is never "clean".

  -j N                  run N probes at once [2]
  --timeout 10m         one deadline for all of them
  --memory 2G           one budget for all of them
  --without NAME        leave one out of all (repeatable)
  --allow-host H        what grype and syft may reach (repeatable) [nothing]
  --severity LEVEL      what counts: info low medium high critical [low]
  --changed BASE        only findings in files that differ from this commit
  --baseline FILE       an earlier SARIF report; only new findings count
  --sarif, --markdown, --html FILE      write a report, too
  --audit DIR, --no-audit               another log of the calls; none
  --json                one record: {"schema":"sallyport.probe/1", ...}

Secrets never appear, only their SHA-256 and their place.

exit codes: 0 clean, 1 findings, 2 a scanner could not complete, 125 wrong usage

examples:
  sallyport probe all --sarif out.sarif --html out.html
  sallyport probe rg_curated ../theirs --severity high
)";

}  // namespace

extern constinit const Verb kProbeVerb{.name = "probe",
                                       .summary = "scanners over a repo, with one honest answer",
                                       .page = kProbePage,
                                       .parse = parse_probe};

}  // namespace sallyport::cli
