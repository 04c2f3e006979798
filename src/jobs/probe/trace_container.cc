#include "jobs/probe/trace_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "jobs/report/bounded_json.h"
#include "jobs/report/text.h"
#include "sallyport/digest.h"

namespace sallyport::jobs {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDaemonAnswers{10'000};
constexpr int kNotFound = 127;  // docker run: the image has no such program
constexpr int kNotRunnable = 126;

milliseconds time_left(const JobContext& context) {
  return std::chrono::duration_cast<milliseconds>(context.deadline - std::chrono::steady_clock::now());
}

// docker is its own isolation and uses a socket of the host, so it runs without a jail.
Result<ProcessResult> docker(const JobContext& context, std::vector<std::string> argv, milliseconds timeout) {
  argv.insert(argv.begin(), "docker");
  timeout = std::max(std::min(timeout, time_left(context)), milliseconds(1));
  return run_allowlisted(*context.gate, std::move(argv), {.cwd = context.repo, .timeout = timeout}, context.stop);
}

std::optional<int> exit_code(const Result<ProcessResult>& result) {
  if (!result) return std::nullopt;
  const auto* const code = std::get_if<ExitCode>(&result->fate);
  return code == nullptr ? std::nullopt : std::optional(code->value);
}

std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return shown(scrub_tokens(text.substr(text.rfind('\n') + 1)));
}

std::string why_not(const Result<ProcessResult>& result) {
  if (!result) return shown(result.error().message);
  return last_line(result->stderr_stream.bytes);
}

void append_strings(const InJson* list, std::vector<std::string>& out) {
  if (list == nullptr) return;
  for (const InJson& word : *list) {
    if (const auto* text = word.get_ptr<const std::string*>()) out.push_back(*text);
  }
}

// The daemon keeps what its client leaves: remove it in every case, even when the caller has stopped the job.
class Leftovers {
 public:
  Leftovers(const JobContext& context, std::string name) : context_(context), name_(std::move(name)) {
    context_.stop = {};
    context_.deadline = std::chrono::steady_clock::time_point::max();
  }
  ~Leftovers() {
    static_cast<void>(docker(context_, {"rm", "--force", "--volumes", name_}, kDaemonAnswers));
    static_cast<void>(docker(context_, {"rmi", "--force", name_}, kDaemonAnswers));
  }
  Leftovers(const Leftovers&) = delete;
  Leftovers& operator=(const Leftovers&) = delete;

 private:
  JobContext context_;
  std::string name_;
};

Invocation invocation_of(std::vector<std::string> argv, const ProcessResult& result) {
  Invocation call{.argv = std::move(argv), .duration = result.duration, .receipt = result.receipt};
  if (const auto* code = std::get_if<ExitCode>(&result.fate)) call.exit_code = code->value;
  if (const auto* signal = std::get_if<Signal>(&result.fate)) call.signal = signal->number;
  return call;
}

}  // namespace

std::vector<std::string> started_by_image(std::string_view config_json) {
  std::vector<std::string> argv;
  const auto config = parse_bounded(config_json);
  if (!config) return argv;
  append_strings(array_member(*config, "Entrypoint"), argv);
  append_strings(array_member(*config, "Cmd"), argv);
  return argv;
}

std::variant<TracedRun, ScannerOutcome, NoContainer> trace_in_container(const JobContext& context) {
  const Result<ProcessResult> version = docker(context, {"version"}, kDaemonAnswers);
  if (exit_code(version) != 0) return NoContainer{.why = "docker does not answer: " + why_not(version)};
  const std::string name = "sallyport-trace-" + sha256_hex(context.work_dir.native()).substr(0, 16);
  const Leftovers leftovers(context, name);
  const Result<ProcessResult> built = docker(context, {"build", "--quiet", "--tag", name, "."}, time_left(context));
  if (exit_code(built) != 0) return NoContainer{.why = "the image cannot be built offline: " + why_not(built)};
  const Result<ProcessResult> config =
      docker(context, {"image", "inspect", "--format", "{{json .Config}}", name}, kDaemonAnswers);
  const std::vector<std::string> starts =
      exit_code(config) == 0 ? started_by_image(config->stdout_stream.bytes) : std::vector<std::string>();
  if (starts.empty()) return NoContainer{.why = "the image names nothing to start"};

  std::vector<std::string> argv{"run",          "--name", name,           "--pull", "never",
                                "--pids-limit", "512",    "--entrypoint", "strace", name};
  argv.insert(argv.end(), kStraceCommand.begin() + 1, kStraceCommand.end());
  argv.insert(argv.end(), starts.begin(), starts.end());
  if (context.memory) argv.insert(argv.begin() + 1, {"--memory", fmt::format("{}b", count(*context.memory))});
  const Result<ProcessResult> run = docker(context, argv, kTraceFor);
  TracedRun traced{.way = "container", .detail = shown(fmt::format("{}", fmt::join(starts, " ")))};
  argv.insert(argv.begin(), "docker");
  if (!run) {
    if (run.error().as<ProbeTimeoutError>() == nullptr) return ScannerOutcome(outcome_of(run.error()));
    // Our deadline ended the client, not the container: the daemon has the output.
    static_cast<void>(docker(context, {"kill", name}, kDaemonAnswers));
    const Result<ProcessResult> said = docker(context, {"logs", name}, kDaemonAnswers);
    if (!said || exit_code(said) != 0) return ScannerOutcome(failed("cannot read its trace: " + why_not(said)));
    if (said->stderr_stream.truncated) return ScannerOutcome(failed("its trace is longer than the output limit"));
    traced.trace = said->stderr_stream.bytes;
    traced.ended_by_us = true;
    traced.invocations = {invocation_of(std::move(argv), *said)};
    return traced;
  }
  const std::optional<int> code = exit_code(run);
  if (run->stderr_stream.truncated) return ScannerOutcome(failed("its trace is longer than the output limit"));
  if ((code == kNotFound || code == kNotRunnable) && run->stderr_stream.bytes.find("execve(") == std::string::npos) {
    return NoContainer{.why = "the image has no strace"};
  }
  traced.trace = run->stderr_stream.bytes;
  traced.invocations = {invocation_of(std::move(argv), *run)};
  return traced;
}

}  // namespace sallyport::jobs
