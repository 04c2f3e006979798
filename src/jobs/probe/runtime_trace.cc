// What the repo's own program does when it starts: the programs that it executes, the files that it opens for writing,
// and the hosts and secrets that it tries to reach. In a container of the repo's Dockerfile where one can be built
// offline and traced, else its start command under strace in the jail. What the trace shows did happen; a program that
// fights its tracer can hide from it (docs/probes.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jobs/probe/all.h"
#include "jobs/probe/start_command.h"
#include "jobs/probe/strace_text.h"
#include "jobs/probe/trace_container.h"
#include "jobs/probe/traced_run.h"
#include "jobs/report/text.h"
#include "sallyport/external_cli.h"

namespace sallyport::jobs {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kWritesOutside = "trace-writes-outside";
constexpr std::string_view kAsksForSecret = "trace-asks-for-secret";
constexpr std::string_view kAsksForHost = "trace-asks-for-host";
constexpr std::string_view kAsksForSocket = "trace-asks-for-socket";
constexpr std::string_view kReachesForTracer = "trace-reaches-for-tracer";

std::vector<RuleInfo> trace_rules() {
  return {
      {.id = std::string(kWritesOutside),
       .severity = Severity::kMedium,
       .summary = "the program opens a file outside the repo and /tmp for writing",
       .help = "Find out why it needs that file; run it only where it cannot be written."},
      {.id = std::string(kAsksForSecret),
       .severity = Severity::kHigh,
       .summary = "the program asks for a file that holds secrets",
       .help = "An honest program has no use for keys and tokens of its user. Do not run it outside a jail."},
      {.id = std::string(kAsksForHost),
       .severity = Severity::kMedium,
       .summary = "the program asks for a host",
       .help = "Find out what it sends there. It had no network here."},
      {.id = std::string(kAsksForSocket),
       .severity = Severity::kHigh,
       .summary = "the program connects to a socket of a system service",
       .help = "Container daemons, agents and buses act for any program that asks them. Do not run it outside a jail."},
      {.id = std::string(kReachesForTracer),
       .severity = Severity::kHigh,
       .summary = "the program tries to reach the process that traces it",
       .help = "What the trace does not show may have happened all the same."},
  };
}

constexpr auto kSecretPlaces = std::to_array<std::string_view>(
    {"/.ssh/", "/.aws/", "/.gnupg/", "/.kube/", "/.config/gcloud/", "/.docker/config.json", "/.netrc", "/.npmrc",
     "/.git-credentials", "/.config/gh/", "/.pypirc", "/etc/shadow", "/.bash_history", "/.mozilla/", "/.env"});

bool lies_in(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

// The repo's own .env and .npmrc are not the caller's secrets.
bool is_secret(std::string_view path, std::span<const std::string> own) {
  if (std::ranges::any_of(own, [&](const std::string& place) { return lies_in(path, place); })) return false;
  return std::ranges::any_of(kSecretPlaces,
                             [&](std::string_view place) { return path.find(place) != std::string_view::npos; });
}

// The stream of its trace: a program that reads from it removes lines.
bool is_trace_stream(std::string_view path) {
  return path == "/dev/stderr" || path == "/dev/stdout" || path.starts_with("/dev/fd/") ||
         (path.starts_with("/proc/") && path.find("/fd/") != std::string_view::npos);
}

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

class Report {
 public:
  Report(const TracedRun& run, std::string place, std::vector<std::string> own)
      : place_(std::move(place)), own_(std::move(own)) {
    ran_.invocations = run.invocations;
    list("way", run.way, run.detail);
  }

  void add(const Trace& trace) {
    list("end", trace.end.empty() ? "ended by sallyport" : trace.end, "of the program");
    for (const std::string& path : trace.programs) list("program", path, "executed");
    for (const std::string& path : trace.written) add_write(path, "opened for writing");
    for (const std::string& path : trace.write_refused) add_write(path, "opened for writing, refused");
    for (const std::string& path : trace.read) {
      if (is_secret(path, own_)) find(kAsksForSecret, path);
      if (is_trace_stream(path)) find(kReachesForTracer, path);
    }
    for (const std::string& path : trace.sockets) {
      list("socket", path, "connected to, or tried");
      if (!path.ends_with("/nscd/socket")) find(kAsksForSocket, path);
    }
    for (const std::string& address : trace.addresses) {
      if (!is_loopback(address)) add_host(address);
    }
    if (trace.reached_for_tracer) find(kReachesForTracer, "ptrace or kill");
  }

  void add_host(std::string_view host) {
    list("host", host, "asked for");
    find(kAsksForHost, host);
  }

  Ran take() {
    sort_and_merge(ran_.findings);
    return std::move(ran_);
  }

 private:
  void list(std::string_view kind, std::string_view name, std::string_view detail) {
    ran_.inventory.push_back(
        {.kind = std::string(kind), .name = shown(name), .detail = std::string(detail), .path = place_});
  }
  void find(std::string_view rule, std::string_view what) {
    static const std::vector<RuleInfo> rules = trace_rules();
    const auto info = std::ranges::find(rules, rule, &RuleInfo::id);
    ran_.findings.push_back({.rule = info->id,
                             .severity = info->severity,
                             .message = fmt::format("{}: {}", info->summary, shown(what)),
                             .place = {.path = place_}});
  }
  void add_write(const std::string& path, std::string_view how) {
    constexpr std::array<std::string_view, 4> kHarmless = {"/tmp", "/dev/null", "/dev/tty", "/dev/shm"};
    list("write", path, how);
    const bool harmless = std::ranges::any_of(kHarmless, [&](auto place) { return lies_in(path, place); }) ||
                          std::ranges::any_of(own_, [&](const auto& place) { return lies_in(path, place); });
    if (!harmless) find(kWritesOutside, path);
  }

  std::string place_;
  std::vector<std::string> own_;
  Ran ran_;
};

// Runs the start command in the jail. Our deadline is a normal end.
std::variant<TracedRun, ScannerOutcome> trace_in_jail(const JobContext& context, const StartCommand& start) {
  std::vector<std::string> argv(kStraceCommand.begin(), kStraceCommand.end());
  argv.insert(argv.end(), start.argv.begin(), start.argv.end());
  const auto left = std::chrono::duration_cast<milliseconds>(context.deadline - std::chrono::steady_clock::now());
  if (left <= milliseconds::zero()) return TimedOut{};
  Result<JailedSubprocessResult> result = run_external_cli_whole(
      *context.gate, "runtime_trace", argv,
      {.cwd = context.repo, .timeout = std::min(left, kTraceFor), .memory = context.memory}, context.stop);
  if (!result) return outcome_of(result.error());
  ToolAnswer answer = answer_of(std::move(argv), *std::move(result));
  const bool timed_out = std::holds_alternative<TimedOut>(answer.result.outcome);
  const bool denied = std::holds_alternative<NetworkDenied>(answer.result.outcome);
  if (answer.result.stderr_stream.truncated) return failed(answer, "its trace is longer than the output limit");
  // A program that is denied a host and then fails has still been traced.
  if (!timed_out && !denied) {
    if (std::optional<ScannerOutcome> why = why_no_answer(answer)) return *std::move(why);
  }
  return TracedRun{.way = "jail",
                   .detail = fmt::format("{} ({})", shown(fmt::format("{}", fmt::join(start.argv, " "))), start.why),
                   .trace = std::move(answer.result.stderr_stream.bytes),
                   .ended_by_us = timed_out,
                   .denials = std::move(answer.result.denials),
                   .invocations = {answer.invocation}};
}

ScannerOutcome report_on(const ProbeInput& input, const TracedRun& run, const std::string& place) {
  const auto trace = parse_strace(run.trace);
  if (!trace)
    return ScannerFailed{.why = "its trace was not understood: " + trace.error(), .invocations = run.invocations};
  if (trace->end.empty() && !run.ended_by_us) {
    return ScannerFailed{.why = "the trace stops before the program's end", .invocations = run.invocations};
  }
  Report report(run, place, {input.context->repo.native(), "/work"});
  report.add(*trace);
  for (const Denial& denial : run.denials) report.add_host(denial.host);
  return report.take();
}

ScannerOutcome run_trace(const ProbeInput& input) {
  const bool has_image =
      std::ranges::any_of(input.files->files, [](const auto& file) { return file.path == "Dockerfile"; });
  const OrWhy<StartCommand> start = start_command(*input.context, *input.files);
  std::string why_no_container = "no Dockerfile at the root";
  if (has_image) {
    std::variant<TracedRun, ScannerOutcome, NoContainer> traced = trace_in_container(*input.context);
    if (auto* run = std::get_if<TracedRun>(&traced)) return report_on(input, *run, "Dockerfile");
    if (auto* outcome = std::get_if<ScannerOutcome>(&traced)) return std::move(*outcome);
    why_no_container = std::get<NoContainer>(traced).why;
    // The repo has a program to start, and we could not start it.
    if (!start) return failed(fmt::format("{}; and {}", why_no_container, start.error()));
  }
  if (!start) return NotApplicable{.why = fmt::format("{}, and {}", why_no_container, start.error())};
  std::variant<TracedRun, ScannerOutcome> traced = trace_in_jail(*input.context, *start);
  if (auto* outcome = std::get_if<ScannerOutcome>(&traced)) return std::move(*outcome);
  auto& run = std::get<TracedRun>(traced);
  if (has_image) run.detail += "; not in a container: " + why_no_container;
  return report_on(input, run, start->file);
}

}  // namespace

extern constinit const Probe kRuntimeTrace{.name = "runtime_trace",
                                           .tool = "strace",
                                           .summary = "what the repo's program does when it starts",
                                           .rules = trace_rules,
                                           .run = run_trace};

}  // namespace sallyport::jobs
