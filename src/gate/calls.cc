// The contract's two entry points, over the one engine.
#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "core/errors.h"
#include "sallyport/event_name.h"
#include "sallyport/external_cli.h"
#include "sallyport/gate.h"

namespace sallyport {
namespace {

// For an outcome that is an error here.
Error after_start(Error error) {
  error.tool_may_have_started = true;
  return error;
}

Result<ProcessResult> as_process_result(Result<JailedSubprocessResult> run, const std::string& tool) {
  JailedSubprocessResult result = TRY(std::move(run));
  const auto ended_early = [&](ExceededLimit limit, std::string_view why) -> Result<ProcessResult> {
    return fail(after_start(limit_exceeded(tool, limit, why)));
  };
  const auto late = [&](const TimedOut& timed_out) {
    Error error = probe_timeout(tool, timed_out.elapsed);
    if (result.denials.empty()) return error;
    const Denial& first = result.denials.front();
    error.message = fmt::format("denied {}: {}; then {}", first.host, reason_text(first), error.message);
    error.hint = fmt::format("allow the host ({}), or {}", first.hint, error.hint);
    return error;
  };
  return std::visit(
      overloaded{[&](const Completed& completed) -> Result<ProcessResult> {
                   return ProcessResult{.fate = completed.fate,
                                        .stdout_stream = std::move(result.stdout_stream),
                                        .stderr_stream = std::move(result.stderr_stream),
                                        .duration = result.duration,
                                        .usage = result.usage,
                                        .receipt = std::move(result.receipt),
                                        .denials = std::move(result.denials),
                                        .audit_run = std::move(result.audit_run),
                                        .scratch = std::move(result.scratch)};
                 },
                 [&](const TimedOut& timed_out) -> Result<ProcessResult> { return fail(after_start(late(timed_out))); },
                 [&](const Cancelled& stop) -> Result<ProcessResult> {
                   return fail(after_start(cancelled(tool, stop.elapsed)));
                 },
                 [&](const OomKilled&) {
                   return ended_early(ExceededLimit::kMemory, "it used more memory than it was given");
                 },
                 [&](const NetworkDenied& denied) {
                   return ended_early(ExceededLimit::kNetwork,
                                      fmt::format("it wanted {}, a host it may not reach", denied.host));
                 },
                 [&](const DiskQuotaExceeded&) {
                   return ended_early(ExceededLimit::kDisk, "its scratch directory was full");
                 }},
      result.outcome);
}

// The contract asks for one warning per process (C17), however many gates there are. This is the only process-wide
// state.
void warn_once_unwrapped(EventSink* events, std::string_view reason) {
  static std::atomic_flag warned;
  if (events == nullptr || warned.test_and_set()) return;
  events->emit(
      {.level = EventLevel::kWarning, .name = event_name::kBwrapSkipped, .fields = {{"reason", std::string(reason)}}});
}

}  // namespace

Result<ProcessResult> run_allowlisted(Gate& gate, std::vector<std::string> argv, AllowlistedOptions options,
                                      std::stop_token stop) {
  const std::string tool = argv.empty() ? std::string() : argv.front();
  const JailedSubprocessSpec spec{.argv = std::move(argv),
                                  .cwd = std::move(options.cwd),
                                  .env_extras = std::move(options.env_extras),
                                  .stdin_source = std::move(options.stdin_source),
                                  .limits = {.wall = options.timeout, .output = options.max_output},
                                  .required = std::move(options.required),
                                  .allow_unjailed = options.allow_unjailed};
  return as_process_result(gate.run(spec, JailKind::kNone, std::move(stop)), tool);
}

Result<JailedSubprocessResult> run_external_cli_whole(Gate& gate, std::string_view probe, std::vector<std::string> argv,
                                                      ExternalCliOptions options, std::stop_token stop) {
  const Limits limits{.wall = options.timeout, .output = options.max_output, .memory = options.memory};
  const JailedSubprocessSpec spec{.argv = std::move(argv),
                                  .cwd = std::move(options.cwd),
                                  .extra_read_only = std::move(options.extra_read_only),
                                  .allowed_egress = std::move(options.allowed_egress),
                                  .limits = limits,
                                  .required = std::move(options.required),
                                  .probe = std::string(probe)};
  Result<JailedSubprocessResult> jailed = gate.run(spec, JailKind::kAuto, stop);
  // C17: running without a jail is possible only here, only without required guarantees, and never without a warning.
  // Named hosts are a requirement too: without a jail the tool could reach every other host.
  const bool may_have_run = jailed || jailed.error().tool_may_have_started;
  const auto* no_jail = may_have_run ? nullptr : jailed.error().as<JailUnavailable>();
  if (no_jail != nullptr && spec.required.empty() && spec.allowed_egress.empty()) {
    warn_once_unwrapped(gate.config().events,
                        no_jail->problem == JailProblem::kNotInstalled ? "not_installed" : "not_usable");
    jailed = gate.run(spec, JailKind::kNone, std::move(stop));
  }
  return jailed;
}

Result<ProcessResult> run_external_cli(Gate& gate, std::string_view probe, std::vector<std::string> argv,
                                       ExternalCliOptions options, std::stop_token stop) {
  const std::string tool = argv.empty() ? std::string() : argv.front();
  return as_process_result(run_external_cli_whole(gate, probe, std::move(argv), std::move(options), std::move(stop)),
                           tool);
}

}  // namespace sallyport
