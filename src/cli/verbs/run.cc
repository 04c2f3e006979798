// sallyport run: one tool through the whole gate.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "cli/call.h"
#include "cli/call_options.h"
#include "cli/console.h"
#include "cli/console_events.h"
#include "cli/exit_code.h"
#include "cli/live_output.h"
#include "cli/stop_on_signal.h"
#include "cli/verb.h"
#include "cli/verdict.h"
#include "gate/one_run.h"
#include "sallyport/gate.h"

namespace sallyport::cli {
namespace {

// The whole result is dropped before this returns: the scratch directory goes with it.
int finish_text(const JailedSubprocessResult& result, const std::string& tool, const LiveOutput& live,
                int stop_signal) {
  const bool cancelled = std::holds_alternative<Cancelled>(result.outcome);
  if (live.reader_gone()) return cancelled ? exit_code_of_signal(SIGPIPE) : exit_code_of(result.outcome, SIGPIPE);
  if (live.failure()) return report(*live.failure(), Format::kText);
  const Verdict verdict = verdict_of(result.outcome, tool, stop_signal, result.denials);
  if (!verdict.line.empty()) say(verdict.line);
  if (!verdict.hint.empty()) say_hint(verdict.hint);
  return exit_code_of(result.outcome, stop_signal);
}

// git says "could not write config file: device or resource busy", which tells nobody what to change.
void explain_protected_git(const CallOptions& options, const JailedSubprocessResult& result) {
  const auto* completed = std::get_if<Completed>(&result.outcome);
  const auto* code = completed == nullptr ? nullptr : std::get_if<ExitCode>(&completed->fate);
  const bool is_git = options.argv.size() > 1 && options.argv.front() == "git";
  const bool is_protected = options.repo_access == RepoAccess::kWritable && options.git_access == GitAccess::kProtected;
  if (code == nullptr || code->value == 0 || !is_git || !is_protected) return;
  for (const char* const writes_config : {"config", "remote", "submodule", "branch", "push"}) {
    if (options.argv[1] != writes_config) continue;
    say_hint("git's configuration is kept as it is in a writable repo; --writable-git opens it");
  }
}

// Everything the run started is dead by now. The gate's destructor would also wait for the kernel to take the jail's
// mounts apart, some milliseconds; leaving at once leaves that to the helper, which ends by itself when our socket closes.
[[noreturn]] void leave(int code) {
  static_cast<void>(std::fflush(nullptr));
  ::_exit(code);
}

int run_tool(const CallOptions& options, const Environment& environment) {
  ConsoleEvents events(options.format, options.verbosity);
  std::stop_source source;
  const Result<StopOnSignal> signals = StopOnSignal::start();
  if (!signals) return report(signals.error(), options.format);
  Result<Call> call = make_call(options, environment, events);
  if (!call) return report(call.error(), options.format, events);

  const bool jails_itself = options.jail == JailKind::kAuto || options.jail == JailKind::kNative;
  Result<std::unique_ptr<Gate>> gate =
      jails_itself ? open_gate_for_one_run(std::move(call->config)) : Gate::open(std::move(call->config));
  if (!gate) return report(gate.error(), options.format, events);
  std::optional<LiveOutput> live;
  if (options.format == Format::kText) {
    live.emplace(source, LiveOutput::Options{
                             .timeout = options.timeout, .stop_fd = signals->fd(), .in_build_log = in_build_log()});
    call->spec.tap = [&live](Stream stream, std::string_view bytes) { live->pass_on(stream, bytes); };
    call->spec.tap_waits_for = [&live](Stream stream) { return live->waits_for(stream); };
  }
  call->spec.stop_fd = signals->fd();
  std::optional<SayingDuringRun> quiet(std::in_place, signals->fd(), options.timeout);
  const Result<JailedSubprocessResult> result = (*gate)->run(call->spec, options.jail, source.get_token());
  if (live) live->finish();
  quiet.reset();
  const int stop_signal = signals->received();
  if (!result) return report(result.error(), options.format, events);
  if (live) explain_protected_git(options, *result);
  if (live) leave(finish_text(*result, options.argv.front(), *live, stop_signal));
  leave(print_run_record(*result, events.collected(), exit_code_of(result->outcome, stop_signal)));
}

Result<Action> parse_run(Args args) {
  std::optional<CallOptions> call = TRY(parse_call_options(args));
  if (!call) return Action();
  return [call = *std::move(call)](const Environment& environment) { return run_tool(call, environment); };
}

constexpr std::string_view kPage = R"(usage: sallyport run [OPTIONS] [--] TOOL [ARGS]
Run one allowlisted tool over a repo you do not trust.

  --repo DIR            the analysed repo [nearest .git above --cwd, else --cwd]
  --cwd DIR             where the tool runs, inside the repo [here, or --repo]
  --timeout 60s         then the tool and all it started is killed
  --cpu 30s, --memory 512M, --pids 128, --disk 256M      more limits
  --max-output 64M      how much of stdout and of stderr is kept, from the end
  --jail KIND           auto (native, else bwrap), native, bwrap, none [auto]
  --require G,G         refuse unless these guarantees hold
  --ro PATH, --rw PATH  show one more path, read-only or writable (repeatable)
  --writable-repo, --writable-git   may write the repo; what git executes, too
  --allow-unjailed, --allow-speculation  node without a jail; no Spectre locks
  --allow-host H[:PORT][=ADDR:PORT]   may reach this host (repeatable) [none]
  --allow-registry      may reach the registry that your own npm is set to
  --strict-network      end the run at the first refused connection
  --env NAME=VALUE      one more variable (repeatable)
  --stdin, --raw-stdin  copy our stdin to the tool; hand over the descriptor
  --policy FILE         another closed set; never a file inside the repo
  --json, --verbose, --probe NAME   one record; debug events; a name for events

exit codes: see sallyport help
example:
  sallyport run --timeout 5s --require net.isolated -- git log --oneline
)";

}  // namespace

extern constinit const Verb kRunVerb{.name = "run",
                                     .summary = "run one allowlisted tool over a repo, behind a jail",
                                     .page = kPage,
                                     .parse = parse_run,
                                     .format = call_format};

}  // namespace sallyport::cli
