// sallyport validate: install and test an untrusted npm project, and report what it did.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
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
#include "cli/validate_report.h"
#include "cli/verb.h"
#include "core/errors.h"
#include "core/parse_units.h"
#include "core/text/number.h"
#include "core/text/units.h"
#include "jobs/validate/validate.h"
#include "sallyport/event_name.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

struct ValidateCommand {
  JobOptions job{.repo = {},
                 .timeout = std::chrono::minutes(10),
                 .memory = mebibytes(4096),
                 .allowed_egress = {},
                 .workspaces = {},
                 .audit = {},
                 .label = "validate"};
  jobs::ValidateOptions options{};
  std::optional<fs::path> cache{};  // unset: below the user's cache directory
  bool no_cache = false;
  bool registry_auth = false;
  std::optional<fs::path> sarif{};
  Format format = Format::kText;
};

// The report, then the record that names it.
Status finish_validation(const ValidateCommand& command, const jobs::ValidateReport& report,
                         const jobs::ValidateOptions& options, Job& job) {
  AuditJob record = jobs::audit_of(report, options);
  if (command.sarif) {
    record.outputs.push_back(TRY(job.write(*command.sarif, jobs::validate_sarif(report, SALLYPORT_VERSION))));
  }
  return job.end(std::move(record));
}

fs::path tarball_cache(const ValidateCommand& command, const Environment& environment) {
  if (command.no_cache) return {};
  if (command.cache) return fs::absolute(environment.current_directory / *command.cache);
  const fs::path user = cache_dir(environment);
  return user.empty() ? fs::path() : user / "npm";
}

// Drops a hint that cannot help the current stage, and shows a weaker limit once, not for each stage.
class StageEvents final : public EventSink {
 public:
  explicit StageEvents(EventSink& shown) : shown_(shown) {}

  void enter(jobs::StageId stage) { can_be_allowed_hosts_ = can_be_allowed_hosts(stage); }

  void emit(const Event& event) override {
    if (event.name == event_name::kLimitWeaker && !is_new(event)) return;
    if (can_be_allowed_hosts_ || event.name != event_name::kEgressDenied) return shown_.emit(event);
    Event without_hint = event;
    std::erase_if(without_hint.fields, [](const auto& field) { return field.first == "hint"; });
    shown_.emit(without_hint);
  }

 private:
  bool is_new(const Event& event) {
    std::string text;
    for (const auto& [name, value] : event.fields) {
      if (name != "probe_name") text += fmt::format("{}={}\n", name, value);
    }
    const std::lock_guard guard(mutex_);
    return said_.insert(std::move(text)).second;
  }

  EventSink& shown_;
  std::mutex mutex_;
  std::set<std::string> said_;
  std::atomic<bool> can_be_allowed_hosts_ = true;  // denials come from the egress's own thread
};

int run_validate_verb(const ValidateCommand& command, const Environment& environment) {
  ConsoleEvents shown(command.format, Verbosity::kNormal);
  StageEvents events(shown);
  JobOptions how = command.job;
  how.workspaces = workspace_dir(environment);
  if (command.sarif) how.outputs.push_back(*command.sarif);
  const Result<std::unique_ptr<Job>> job = Job::start(how, environment, events);
  if (!job) return incomplete(job.error(), command.format);
  ProgressLines lines({"lock", "fetch", "build", "test"});
  jobs::ValidateOptions options = command.options;
  options.cache_dir = tarball_cache(command, environment);
  options.state_dir = how.workspaces;
  options.now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  options.events = &events;
  options.registry_auth = command.registry_auth;
  options.progress = [&lines, &events](jobs::StageId stage, const jobs::StageResult* result) {
    events.enter(stage);
    lines.update(jobs::name_of(stage), result == nullptr ? std::string("runs")
                                                         : fmt::format("{} after {}", jobs::name_of(result->state),
                                                                       format_duration(result->duration)));
  };
  // Printing must not slow down a test with much output.
  options.said = [&lines, next = std::chrono::steady_clock::time_point()](jobs::StageId stage,
                                                                          std::string_view line) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now < next) return;
    next = now + std::chrono::milliseconds(80);
    lines.update(jobs::name_of(stage), line);
  };
  const jobs::ValidateReport report = in_options(jobs::run_validate((*job)->context(), options));
  if (const Status finished = finish_validation(command, report, options, **job); !finished) {
    return incomplete(finished.error(), command.format);
  }
  const int code = jobs::exit_code_of(report.verdict);
  if (command.format == Format::kJson) {
    Json record = validate_record(report, options.threshold, code);
    record["audit_job"] = (*job)->id().empty() ? Json(nullptr) : Json((*job)->id());
    return print_record(record, code);
  }
  return print_text(validate_text(report, options.threshold), code);
}

Status set_registry(ValidateCommand& command, std::string_view value) {
  command.options.registry = std::string(value);
  return {};
}
Status add_lock_host(ValidateCommand& command, std::string_view value) {
  command.options.lock_hosts.emplace_back(value);
  return {};
}
Status add_fetch_host(ValidateCommand& command, std::string_view value) {
  command.options.more_hosts.emplace_back(value);
  return {};
}
Status set_allow_scripts(ValidateCommand& command, std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view name = value.substr(0, comma);
    value.remove_prefix(std::min(comma + 1, value.size()));
    if (name.empty() || name.starts_with('-')) {
      return fail(
          invalid_request("--allow-scripts", "it names no package", "e.g. --allow-scripts esbuild,@scope/native"));
    }
    command.options.allow_scripts.emplace_back(name);
  }
  return {};
}
Status set_min_age(ValidateCommand& command, std::string_view value) {
  constexpr unsigned kMostDays = 3650;
  if (value.ends_with('d')) {
    const auto days = whole_number<unsigned>(value.substr(0, value.size() - 1));
    if (!days || *days > kMostDays) {
      return fail(invalid_request("--min-age", "not a number of days up to 3650", "e.g. --min-age 3d or 12h"));
    }
    command.options.min_age = std::chrono::days(*days);
    return {};
  }
  command.options.min_age = std::chrono::floor<std::chrono::seconds>(TRY(parse_duration(value, "--min-age")));
  return {};
}
Status set_signatures(ValidateCommand& command, std::string_view /*value*/) {
  command.options.signatures = true;
  return {};
}
Status set_validate_severity(ValidateCommand& command, std::string_view value) {
  command.options.threshold = TRY(parse_severity(value));
  return {};
}
Status set_validate_disk(ValidateCommand& command, std::string_view value) {
  command.options.disk = TRY(parse_bytes(value, "disk"));
  return {};
}
Status set_validate_jail(ValidateCommand& command, std::string_view value) {
  command.options.jail = JailKind(value);
  return {};
}

constexpr auto kValidateOptions = std::to_array<Option<ValidateCommand>>(
    {{{"--registry", Arity::kValue}, set_registry},
     {{"--registry-auth", Arity::kFlag}, set_flag<&ValidateCommand::registry_auth, true>},
     {{"--lock-host", Arity::kRepeatable}, add_lock_host},
     {{"--allow-host", Arity::kRepeatable}, add_fetch_host},
     {{"--allow-scripts", Arity::kRepeatable}, set_allow_scripts},
     {{"--min-age", Arity::kValue}, set_min_age},
     {{"--signatures", Arity::kFlag}, set_signatures},
     {{"--severity", Arity::kValue}, set_validate_severity},
     {{"--timeout", Arity::kValue}, set_job_timeout<ValidateCommand>},
     {{"--memory", Arity::kValue}, set_job_memory<ValidateCommand>},
     {{"--disk", Arity::kValue}, set_validate_disk},
     {{"--jail", Arity::kValue}, set_validate_jail},
     {{"--cache", Arity::kValue}, set_path<&ValidateCommand::cache>},
     {{"--no-cache", Arity::kFlag}, set_flag<&ValidateCommand::no_cache, true>},
     {{"--audit", Arity::kValue}, set_job_audit<ValidateCommand>},
     {{"--no-audit", Arity::kFlag}, set_job_no_audit<ValidateCommand>},
     {{"--sarif", Arity::kValue}, set_path<&ValidateCommand::sarif>},
     {{"--json", Arity::kFlag}, set_flag<&ValidateCommand::format, Format::kJson>}});

Result<Action> parse_validate(Args args, Format& format) {
  ValidateCommand command;
  const auto words = TRY(apply_options(args, kValidateOptions, command, format));
  if (!words) return Action();
  TRY(take_repo(command, *words));
  return [command = std::move(command)](const Environment& environment) {
    return run_validate_verb(command, environment);
  };
}

constexpr std::string_view kValidatePage = R"(usage: sallyport validate [REPO] [OPTIONS]
Install and test an npm project you do not trust, behind a jail: lock, fetch
(only the registry), build (only if asked), test (no network). The repo is not
touched: all of it happens in a workspace, which is listed and thrown away.

  --registry HOST[:PORT][=ADDR:PORT]   [what your own npm is set to]
                         https; write http://HOST for a plain one
  --registry-auth        with your .npmrc's credentials, which npm never sees
  --allow-scripts A,B    run the install scripts of these packages [none]
  --min-age 3d           fail on versions published more recently
  --signatures           npm audit signatures, too; needs --allow-host TUF-HOST
  --lock-host HOST       another registry a lock file may name (repeatable)
  --allow-host HOST      what fetch may reach, too (repeatable)
  --severity LEVEL       what fails in the lock file [high]
  --timeout 10m, --disk 4G  of the whole; --memory 4G of each call
  --jail NAME            [auto]
  --cache DIR, --no-cache  where fetched tarballs are kept [the user's cache]
  --audit DIR, --no-audit  another log of the calls; none
  --sarif FILE, --json   a report; one record "sallyport.validate/1"

exit codes: 0 passed; 1 failed, denied or limited; 2 could not complete, or not
npm's; 125 wrong usage
example: sallyport validate ../theirs --min-age 3d --sarif out.sarif
)";

}  // namespace

extern constinit const Verb kValidateVerb{.name = "validate",
                                          .summary = "install and test an npm project, and say what it did",
                                          .page = kValidatePage,
                                          .parse = parse_validate};

}  // namespace sallyport::cli
