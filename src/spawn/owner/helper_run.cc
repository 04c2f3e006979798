#include "spawn/owner/helper_run.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include "os/passed_descriptors.h"

namespace sallyport::spawn {
namespace {

using wire::Stage;

constexpr auto kHostStages =
    std::to_array<Stage>({Stage::kClone, Stage::kUserMap, Stage::kPrivateMounts, Stage::kNewRoot, Stage::kTmpfs,
                          Stage::kProc, Stage::kDevpts, Stage::kMqueue, Stage::kMask, Stage::kOverlay, Stage::kPivot,
                          Stage::kReadOnlyRoot, Stage::kLoopback, Stage::kNetwork, Stage::kHostname, Stage::kSeccomp,
                          Stage::kCgroupNamespace, Stage::kCapabilities});

int signal_of(wire::Command command) {
  switch (command) {
    case wire::Command::kTerminate:
      return SIGTERM;
    case wire::Command::kFinish:
      return SIGQUIT;
    case wire::Command::kKill:
      break;
  }
  return SIGKILL;
}

// The kernel lets the first process of a pid namespace end last. Does not reap it. None when init exited by itself,
// which it does once it has reported everything.
std::optional<wire::Report> report_of_killed(pid_t init) {
  siginfo_t info{};
  rusage usage{};
  while (::syscall(SYS_waitid, P_PID, init, &info, WEXITED | WNOWAIT, &usage) != 0) {
    if (errno != EINTR) return std::nullopt;
  }
  if (info.si_code == CLD_EXITED) return std::nullopt;
  wire::Report report{};
  report.kind = wire::ReportKind::kExited;
  report.flags = wire::kInitDied;
  report.wait_status = info.si_status;
  wire::put_usage(usage, report);
  return report;
}

bool is_engine(const LaunchSpec& spec) {
  const auto* place = std::get_if<NoJailPlace>(&spec.place);
  return place != nullptr && place->is_engine;
}

// Only an init that cannot be measured from outside reports these.
std::optional<GuestFacts> guest_facts_of(const wire::Report& report) {
  if (report.oom_kills == 0 && report.scratch_was_full == 0) return std::nullopt;
  return GuestFacts{.oom_kills = report.oom_kills,
                    .scratch_bytes = report.scratch_bytes,
                    .scratch_files = report.scratch_files,
                    .scratch_full = report.scratch_was_full != 0};
}

Stdio stdio_of(const ToolStreams& streams) { return {.in = streams.in, .out = streams.out, .err = streams.err}; }

}  // namespace

Result<std::unique_ptr<LiveRun>> start_run(JailSupply& supply, const LaunchSpec& spec, const ToolStreams& streams) {
  StartedRun run = TRY(supply.start(spec, stdio_of(streams)));
  return std::make_unique<HelperRun>(std::move(run), supply, spec, streams);
}

bool host_lacks(SetupStage stage, int error_number) {
  return error_number == ENOSYS || std::ranges::find(kHostStages, stage) != kHostStages.end();
}

HelperRun::~HelperRun() {
  if (run_.run.channel) send(wire::Command::kKill);
}

void HelperRun::send(wire::Command command) const {
  if (run_.run.init) {
    // The init is not reaped yet, so the pid is still its own.
    ::kill(*run_.run.init, signal_of(command));
    return;
  }
  // If the other end is gone, it needs no command; end-of-file on the channel follows.
  while (::send(run_.run.channel.get(), &command, sizeof command, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void HelperRun::stop(StopStep step) {
  stopped_ = true;
  if (!run_.run.channel) return;
  switch (step) {
    case StopStep::kTerminate:
      send(wire::Command::kTerminate);
      return;
    case StopStep::kKill:
      send(wire::Command::kFinish);
      return;
    case StopStep::kForce:
      send(wire::Command::kKill);
      return;
    case StopStep::kAbandon:
      break;
  }
  // The helper is broken, or has no child to take the request. Kill it and everything below it.
  if (!run_.run.init) run_.helper->abandon();
  run_.run.channel.reset();
}

Result<RunReport> HelperRun::next() {
  if (!run_.run.channel) return after_last();
  wire::Report report{};
  ReceivedMessage received = receive_with_descriptors(
      run_.run.channel.get(), std::as_writable_bytes(std::span(&report, 1)), wire::kMaxNetFds, MSG_DONTWAIT);
  // ECONNRESET: the other end was closed with a command of ours unread. The kernel reports that once, before the
  // reports that still wait; then come the last report, or the end of the channel.
  const bool not_yet = received.size < 0 && (errno == EINTR || errno == EAGAIN || errno == ECONNRESET);
  if (not_yet) return RunReport(NothingNew{});
  if (received.size != sizeof report) {
    run_.run.channel.reset();  // its worker or init, and so the whole tree, is gone
    return after_last();
  }
  if (received.sender) sender_ = received.sender;
  return translate(report, std::move(received.descriptors));
}

// The channel is closed. If init is our child, it has closed its end, or ours is broken: the run has no supervisor any
// more, so we kill init, and its wait status says what it could not report.
RunReport HelperRun::after_last() {
  if (!run_.run.init) return RunGone{};
  const pid_t init = *std::exchange(run_.run.init, std::nullopt);
  ::kill(init, SIGKILL);
  const std::optional<wire::Report> killed = report_of_killed(init);
  if (!killed || tool_ended_) return RunGone{};
  return ended(*killed);
}

Result<RunReport> HelperRun::translate(const wire::Report& report, std::vector<UniqueFd> fds) {
  switch (report.kind) {
    case wire::ReportKind::kNetwork:
      ports_redirected_ = (report.flags & wire::kPortsRedirected) != 0;
      return NetworkOpened{.sockets = std::move(fds),
                           .refusals_shown = (report.flags & wire::kRefusalsShown) != 0,
                           .connections_handed = (report.flags & wire::kHandsThemOver) != 0,
                           .loopback_only = (report.flags & wire::kLoopbackOnly) != 0};
    case wire::ReportKind::kStarted: {
      tool_started_ = true;
      ToolStarted started{
          .facts = {.landlocked = (report.flags & wire::kAppliedLandlock) != 0,
                    .ports_redirected = ports_redirected_,
                    .connections_carried = (report.flags & wire::kCarriesThem) != 0,
                    // Init and workers already have the tool's user when they send this. The process that relays a
                    // container's reports does not.
                    .run_as = is_engine(spec_) ? UserIds{.uid = report.uid, .gid = report.gid} : sender_}};
      if ((report.flags & wire::kTreeShown) != 0 && !fds.empty()) {
        started.tree = std::move(fds.back());
        fds.pop_back();
      }
      if (!fds.empty()) started.scratch = std::move(fds.front());
      return started;
    }
    case wire::ReportKind::kFailed:
      return failed(report);
    case wire::ReportKind::kExited:
      break;
  }
  return ended(report);
}

Result<RunReport> HelperRun::failed(const wire::Report& report) {
  // The jail must report that it has started nothing. A jail that dies without a report may have started something.
  const bool was_unsound = (report.flags & wire::kNotBuilt) != 0;
  if (was_unsound && run_.built_ahead && !stopped_) {
    run_ = TRY(supply_.start_instead_of(run_, spec_, stdio_of(streams_)));
    return NothingNew{};
  }
  return StartFailed{
      .stage = report.stage, .error_number = report.error, .host_cannot = host_lacks(report.stage, report.error)};
}

RunReport HelperRun::ended(const wire::Report& report) {
  const bool of_wrapper = (report.flags & wire::kWrapperExited) != 0;
  // The wrapper's own end matters only when our init inside could not report the tool's end.
  if (of_wrapper && tool_ended_) return NothingNew{};
  tool_ended_ = true;
  // The wrapper never started the tool; only its own output can say why.
  if (of_wrapper && !tool_started_ && !stopped_) return StartFailed{.host_cannot = true, .said_on_stderr = true};
  const bool nobody_left = (report.flags & wire::kNobodyLeft) != 0;
  if (nobody_left) run_.run.channel.reset();
  return ToolEnded{.wait_status = report.wait_status,
                   .fate_unknown = (report.flags & (wire::kWrapperExited | wire::kInitDied)) != 0,
                   .usage = {.user = std::chrono::microseconds(report.user_us),
                             .system = std::chrono::microseconds(report.system_us),
                             .peak_rss_bytes = report.peak_rss_bytes},
                   .is_last = nobody_left || !run_.run.channel,
                   .of_guest = guest_facts_of(report)};
}

}  // namespace sallyport::spawn
