// sallyport run: one tool through the whole gate.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cli/after_run.h"
#include "cli/call.h"
#include "cli/call_options.h"
#include "cli/console.h"
#include "cli/console_events.h"
#include "cli/exit_code.h"
#include "cli/json_stream.h"
#include "cli/live_output.h"
#include "cli/option_words.h"
#include "cli/spinner.h"
#include "cli/stop_on_signal.h"
#include "cli/verb.h"
#include "cli/verdict.h"
#include "core/json/json.h"
#include "gate/one_run.h"
#include "os/canonical.h"
#include "os/output_file.h"
#include "sallyport/gate.h"

namespace sallyport::cli {
namespace {

// A terminal, or `2>&1`: a reader of both streams in one file needs them in the order of the writes.
bool streams_are_one_file() {
  struct stat out{};
  struct stat err{};
  if (::fstat(STDOUT_FILENO, &out) != 0 || ::fstat(STDERR_FILENO, &err) != 0) return false;
  return out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

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

// Everything the run started is dead by now. The gate's destructor would also wait some milliseconds until the kernel
// has torn down the jail's mounts; if we exit at once, the helper waits instead and ends by itself when our socket
// closes.
[[noreturn]] void leave(int code) {
  static_cast<void>(std::fflush(nullptr));
  ::_exit(code);
}

std::string tool_name(const CallOptions& options) { return options.argv.empty() ? "" : options.argv.front(); }

// Where a run's output and events go while it lasts.
struct Outlets {
  std::optional<LiveOutput> live{};
  std::optional<JsonStream> stream{};
  std::optional<Spinner> spinner{};
};

void connect(const CallOptions& options, Outlets& to, ConsoleEvents& events, JailedSubprocessSpec& spec) {
  if (options.json_stream) {
    JsonStream& stream = to.stream.emplace(*to.live, tool_name(options));
    events.pass_to([&stream](const Event& event, bool wanted) { stream.event(event, wanted); });
    spec.tap = [&stream](Stream from, std::string_view bytes) { stream.output(from, bytes); };
    spec.tap_waits_for = [&stream](Stream) { return stream.waits(); };
    return;
  }
  if (!to.live) return;
  to.spinner.emplace(tool_name(options));
  spec.tap = [&to](Stream from, std::string_view bytes) {
    to.spinner->hide();
    to.live->pass_on(from, bytes);
  };
  spec.tap_waits_for = [&to](Stream from) { return to.live->waits_for(from); };
}

int fail_run(const Error& error, const CallOptions& options, Outlets& to, const ConsoleEvents& events) {
  to.spinner.reset();
  if (!to.stream) return report(error, options.format, events);
  to.stream->error(error, exit_code_of(error));
  to.live->finish();
  return exit_code_of(error);
}

// Before the tool runs: it could put a symlink on the path.
Result<std::optional<OutputFile>> settle_receipt(const CallOptions& options, const Environment& environment,
                                                 const JailedSubprocessSpec& spec) {
  if (!options.receipt) return std::nullopt;
  std::vector<std::filesystem::path> strangers{spec.repo};
  for (const std::filesystem::path& path : spec.extra_read_write) {
    strangers.push_back(canonical_existing(path).value_or(path));
  }
  return TRY(OutputFile::settle("receipt", environment.current_directory / *options.receipt, strangers));
}

// Writes the record without the streams, which were already printed.
Status keep_receipt(const CallOptions& options, const std::optional<OutputFile>& receipt,
                    const JailedSubprocessResult& result, const Json& events) {
  if (!receipt) return {};
  Json record = run_record(result);
  if (options.format == Format::kText || options.json_stream) {
    for (const char* shown : {"stdout", "stderr", "encoding"}) record.erase(shown);
  }
  record["events"] = events;
  return receipt->replace(json_dump(record) + "\n");
}

int finish_stream(JailedSubprocessResult& result, const std::vector<std::string>& hints, Outlets& to, int code) {
  to.stream->result(result, hints, code);
  to.live->finish();
  if (to.live->reader_gone()) return exit_code_of_signal(SIGPIPE);
  return to.live->failure() ? exit_code_of(*to.live->failure()) : code;
}

int run_tool(const CallOptions& options, const Environment& environment) {
  ConsoleEvents events(options.format, options.verbosity);
  std::stop_source source;
  const Result<StopOnSignal> signals = StopOnSignal::start();
  if (!signals) return report(signals.error(), options.format);
  Outlets to;
  if (options.format == Format::kText || options.json_stream) {
    to.live.emplace(source, LiveOutput::Options{.timeout = options.timeout,
                                                .stop_fd = signals->fd(),
                                                .in_build_log = in_build_log() && !options.json_stream});
  }
  JailedSubprocessSpec taps;
  connect(options, to, events, taps);
  Call call = make_call(options, environment, events);
  LogReach reach{.repo = call.spec.repo, .writable = call.spec.extra_read_write};
  if (options.workspace) reach.workspaces.push_back(workspace_place(options, environment));
  const Result<std::unique_ptr<AuditSink>> audit = open_audit(options.audit, environment, "run", reach, events);
  if (!audit) return fail_run(audit.error(), options, to, events);
  call.config.audit = audit->get();
  call.spec.tap = std::move(taps.tap);
  call.spec.tap_waits_for = std::move(taps.tap_waits_for);
  call.spec.stop_fd = signals->fd();
  if (to.live && !to.stream && streams_are_one_file()) call.spec.output_pipes = OutputPipes::kOne;

  std::optional<OutputFile> receipt;
  call.spec.before_start = [&]() -> Status {
    receipt = TRY(settle_receipt(options, environment, call.spec));
    return {};
  };

  Result<std::unique_ptr<Gate>> gate = open_gate_for_one_run(std::move(call.config));
  if (!gate) return fail_run(gate.error(), options, to, events);
  std::optional<SayingDuringRun> quiet(std::in_place, signals->fd(), options.timeout);
  Result<JailedSubprocessResult> result = (*gate)->run(call.spec, options.jail, source.get_token());
  to.spinner.reset();
  if (to.live && !to.stream) to.live->finish();
  quiet.reset();
  const int stop_signal = signals->received();
  if (!result) return fail_run(result.error(), options, to, events);
  result->denials = in_options(std::move(result->denials));
  const int code = exit_code_of(result->outcome, stop_signal);
  const std::vector<std::string> hints = hints_after(options, *result);
  const Status kept = keep_receipt(options, receipt, *result, events.collected());
  if (!kept) return fail_run(kept.error(), options, to, events);
  if (to.stream) leave(finish_stream(*result, hints, to, code));
  if (to.live) {
    for (const std::string& hint : hints) say_hint(hint);
    leave(finish_text(*result, tool_name(options), *to.live, stop_signal));
  }
  leave(print_run_record(*result, events.collected(), code));
}

Result<Action> parse_run(Args args, Format& format) {
  std::optional<CallOptions> call = TRY(parse_call_options(args, format));
  if (!call) return Action();
  return [call = *std::move(call)](const Environment& environment) { return run_tool(call, environment); };
}

constexpr std::string_view kRunPage = R"(usage: sallyport run [OPTIONS] [--] TOOL [ARGS]
Run one allowlisted tool over a repo you do not trust.

  --repo DIR, --cwd DIR  the analysed repo [nearest .git]; where the tool runs
  --timeout 10m, --grace 100ms   then SIGTERM, then SIGKILL to all it started
  --cpu 30s, --memory 512M, --pids 128, --disk 256M, --nofile 1024   limits
  --max-output 64M      how much of stdout and of stderr is kept, from the end
  --jail KIND, --require G,G   [auto: first to work]; refuse without these
  --image NAME, --engine E, --engine-arg WORD, --host-tool  of jail container
  --ro PATH, --rw PATH  show one more path, read-only or writable (repeatable)
  --hide PATH, --noexec PATH   of what is shown: empty; no program starts there
  --workspace NAME, --workspace-dir DIR   may write a private version; its place
  --writable-repo, --writable-git   may write the repo; what git executes, too
  --allow-unjailed, --allow-speculation  node without a jail; no Spectre locks
  --allow-host H[:PORT][=ADDR:PORT]   may reach this host (repeatable) [none]
  --allow-registry, --registry-auth   your npm's, too; with your token there
  --via-proxy URL|env, --ca FILE, --strict-network   your proxy; certificates
  --env NAME=VALUE, --policy FILE   one more variable; another closed set
  --stdin, --raw-stdin  copy our stdin to the tool; hand over the descriptor
  --audit DIR, --audit-sync MODE, --audit-may-fail, --no-audit   the log; none
  --json, --json-stream, --receipt FILE   a record; events by line; its file
  --verbose, --probe NAME   debug events too; a name for events
exit codes: see sallyport help; example:
  sallyport run --timeout 5s --require net.isolated -- git log --oneline
)";

}  // namespace

extern constinit const Verb kRunVerb{.name = "run",
                                     .summary = "run one allowlisted tool over a repo, behind a jail",
                                     .page = kRunPage,
                                     .parse = parse_run};

}  // namespace sallyport::cli
