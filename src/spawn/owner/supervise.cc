#include "spawn/owner/supervise.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "os/event_fd.h"
#include "os/pipe.h"
#include "sallyport/outcome.h"
#include "spawn/owner/capture.h"
#include "spawn/owner/stop_clock.h"
#include "spawn/owner/tool_input.h"
#include "spawn/owner/watches.h"

namespace sallyport::spawn {
namespace {

using Clock = StopClock::Clock;

// One loud stream must not starve the deadline: about this much per turn of the loop.
constexpr std::size_t kBytesPerTurn = Capture::kBusyPipeCapacity;
// More than the largest pipe that the tool can make holds (1 MiB), yet a bound when a process outside keeps writing
// after the run is over.
constexpr std::size_t kLastBytes = std::size_t{2} << 20U;

// Keeps the tool's ends open here until the tool has started: a jail may have to be replaced before that.
struct Streams {
  ToolInput in;
  UniqueFd tools_out;
  UniqueFd tools_err;
  Capture out;
  Capture err;  // without a pipe when both streams share one

  [[nodiscard]] int tools_err_end() const { return tools_err ? tools_err.get() : tools_out.get(); }
  void handed_over() {
    in.handed_over();
    tools_out.reset();
    tools_err.reset();
  }
};

Result<Streams> open_streams(const Supervision& how, NullDevice null_device) {
  ToolInput input = TRY(ToolInput::open(how.stdin_source, null_device));
  Pipe out = TRY(make_pipe());
  TRY(set_nonblocking(out.read_end.get()));
  Pipe err;
  if (how.output_pipes == OutputPipes::kTwo) {
    err = TRY(make_pipe());
    TRY(set_nonblocking(err.read_end.get()));
  }
  return Streams{.in = std::move(input),
                 .tools_out = std::move(out.write_end),
                 .tools_err = std::move(err.write_end),
                 .out = Capture(std::move(out.read_end), Stream::kStdout, how.max_output),
                 .err = Capture(std::move(err.read_end), Stream::kStderr, how.max_output)};
}

class Supervisor {
 public:
  Supervisor(LiveRun& run, Streams streams, const Supervision& how, int stop_fd)
      : run_(run), streams_(std::move(streams)), how_(how), watches_(how), clock_(how), stop_fd_(stop_fd) {}

  // An error says whether the tool had started.
  [[nodiscard]] Result<Ended> to_the_end() {
    Result<Ended> ended = supervise();
    if (!ended && ended_.tool_started) ended.error().tool_may_have_started = true;
    return ended;
  }

 private:
  [[nodiscard]] Result<Ended> supervise() {
    while (!over_) {
      // Do not read a stream whose reader is behind until that reader has caught up.
      const int out_waits = waits_for(Stream::kStdout, streams_.out);
      const int err_waits = waits_for(Stream::kStderr, streams_.err);
      std::array<pollfd, 7> watched = {{stream_event(out_waits, streams_.out),
                                        stream_event(err_waits, streams_.err),
                                        {run_.event_fd(), POLLIN, 0},
                                        {stopping() ? -1 : stop_fd_, POLLIN, 0},
                                        {stopping() ? -1 : network_.fd, POLLIN, 0},
                                        {stopping() ? -1 : how_.stop_fd, POLLIN, 0},
                                        ended_.tool_started ? streams_.in.awaited() : pollfd{-1, 0, 0}}};
      if (::poll(watched.data(), watched.size(), poll_timeout()) < 0 && errno != EINTR) {
        return fail(system_error("wait for", "the run", errno));
      }
      if (watched[0].revents != 0 && out_waits < 0) streams_.out.drain(how_.tap, kBytesPerTurn);
      if (watched[1].revents != 0 && err_waits < 0) streams_.err.drain(how_.tap, kBytesPerTurn);
      if (watched[2].revents != 0) accept_next();
      if (watched[3].revents != 0 || watched[5].revents != 0) stop_because(EndedBy::kStop);
      if (watched[4].revents != 0) network_is_ready();
      if (watched[6].revents != 0) copy_input();
      keep_time();
      if (stopping()) continue;
      if (const std::optional<EndedBy> limit = watches_.reached(ended_)) stop_because(*limit);
    }
    return finish();
  }

  [[nodiscard]] int waits_for(Stream stream, const Capture& capture) const {
    return how_.tap_waits_for && capture.fd() >= 0 ? how_.tap_waits_for(stream) : -1;
  }

  // What a wrapper prints before the tool has started is no output of the tool: we read it only when the start has
  // failed.
  [[nodiscard]] pollfd stream_event(int reader, const Capture& capture) const {
    if (!ended_.tool_started) return {-1, 0, 0};
    if (reader >= 0) return {reader, POLLOUT, 0};
    return {capture.fd(), POLLIN, 0};
  }

  [[nodiscard]] bool stopping() const { return ended_.by != EndedBy::kItself; }

  void take(const std::optional<StopStep>& step) {
    if (!step) return;
    run_.stop(*step);
    if (*step != StopStep::kAbandon) return;
    // The run may know now how the tool ended; if not, we cannot find out.
    accept_next();
    over_ = true;
  }

  void stop_because(EndedBy reason) {
    if (stopping()) return;
    ended_.by = reason;
    const bool gently = reason == EndedBy::kDeadline || reason == EndedBy::kStop;
    take(gently ? clock_.terminate() : clock_.kill(ended_.tool_started));
  }

  // A tool whose input ends early must not run on as if that were all of it.
  void copy_input() {
    Status copied = streams_.in.copy();
    if (copied || stopping()) return;
    give_up_with(std::move(copied).error());
  }

  void give_up_with(Error error) {
    error_ = std::move(error);
    stop_because(EndedBy::kNetwork);
  }

  void keep_time() {
    if (!stopping() && clock_.is_past_deadline()) stop_because(EndedBy::kDeadline);
    if (stopping() && !over_) take(clock_.due(ended_.tool_started));
  }

  [[nodiscard]] int poll_timeout() const {
    const Clock::time_point next = stopping() ? clock_.next() : std::min(clock_.deadline(), watches_.next(ended_));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }

  void accept_next() {
    Result<RunReport> report = run_.next();
    if (!report) {
      error_ = std::move(report).error();
      over_ = true;
      return;
    }
    std::visit(overloaded{[](NothingNew) {},  //
                          [this](NetworkOpened& network) { accept(std::move(network)); },
                          [this](ToolStarted& started) { accept(std::move(started)); },
                          [this](const StartFailed& failed) { accept(failed); },
                          [this](const ToolEnded& end) { accept(end); },  //
                          [this](RunGone) { over_ = true; }},
               *report);
  }

  void accept(NetworkOpened network) {
    if (!how_.on_network) return;
    watch_network(how_.on_network(std::move(network)));
  }

  void network_is_ready() {
    const NetworkWatch ready = std::exchange(network_, {});
    if (!ready.then) return stop_because(EndedBy::kNetwork);
    watch_network(ready.then());
  }

  void watch_network(Result<NetworkWatch> watch) {
    if (watch) {
      network_ = *std::move(watch);
    } else {
      give_up_with(std::move(watch).error());
    }
  }

  void accept(ToolStarted started) {
    streams_.handed_over();
    ended_.tool_started = true;
    ended_.facts = started.facts;
    ended_.scratch = std::move(started.scratch);
    ended_.tree = std::move(started.tree);
    if (!how_.on_started || stopping()) return;
    if (Status fits = how_.on_started(ended_.facts); !fits) give_up_with(std::move(fits).error());
  }

  void accept(const StartFailed& failed) {
    streams_.handed_over();
    if (!failure_) failure_ = failed;
  }

  void accept(const ToolEnded& end) {
    tool_ended_ = true;
    ended_.wait_status = end.wait_status;
    ended_.fate_unknown = end.fate_unknown;
    ended_.duration = clock_.elapsed();
    ended_.usage = end.usage;
    if (end.of_guest) accept(*end.of_guest);
    if (end.is_last) over_ = true;
  }

  void accept(const GuestFacts& guest) {
    ended_.guests_oom_kills = guest.oom_kills;
    ended_.scratch_used = guest.scratch_bytes;
    ended_.scratch_files = guest.scratch_files;
    if (guest.scratch_full && !stopping()) ended_.by = EndedBy::kDiskQuota;
  }

  [[nodiscard]] Error why_not_started() {
    if (!failure_->said_on_stderr) {
      return setup_failed(
          {.stage = failure_->stage, .error_number = failure_->error_number, .host_cannot = failure_->host_cannot});
    }
    Capture& errors = how_.output_pipes == OutputPipes::kTwo ? streams_.err : streams_.out;
    errors.drain({}, kLastBytes);
    const std::string said = std::move(errors).finish().bytes;
    return jail_unavailable(how_.jail, said.empty() ? "it gave up without a word" : said.substr(0, said.find('\n')));
  }

  // No tool ever started. The deadline counts from the call and has passed, so report a run that the deadline killed.
  [[nodiscard]] Result<Ended> never_started() {
    ended_.wait_status = SIGKILL;
    ended_.duration = clock_.elapsed();
    return std::move(ended_);
  }

  [[nodiscard]] Result<Ended> finish() {
    streams_.handed_over();
    if (error_) return fail(*std::move(error_));
    if (failure_) return fail(why_not_started());
    if (clock_.gave_up() && !ended_.tool_started && !tool_ended_) return never_started();
    if ((!ended_.tool_started && !stopping()) || !tool_ended_) {
      Error lost =
          system_error("learn how the run ended in", fmt::format("the jail \"{}\"", how_.jail.name()), ECONNRESET,
                       "whatever supervised the tool there was killed; the next call starts a new one");
      lost.tool_may_have_started = true;  // its report of the start may be lost, too
      return fail(std::move(lost));
    }
    // Everything is dead, so the pipes hold the last output; a process outside may still hold an end, so do not wait
    // for end-of-file.
    streams_.out.drain(how_.tap, kLastBytes);
    streams_.err.drain(how_.tap, kLastBytes);
    // A part of the output is lost, so the run has no result.
    const int unread = streams_.out.error() != 0 ? streams_.out.error() : streams_.err.error();
    if (unread != 0) return fail(system_error("read", "the tool's output", unread));
    // Do not measure again when the quota ended the run: the file that filled scratch may be gone by now.
    const bool look_again = how_.disk_quota && ended_.scratch && ended_.by != EndedBy::kDiskQuota;
    if (look_again && watches_.scratch_is_full(ended_) && !stopping()) ended_.by = EndedBy::kDiskQuota;
    if (how_.layers && !stopping()) {
      ended_.layer_full = how_.layers(LayerLook::kAtTheEnd);
      if (ended_.layer_full) ended_.by = EndedBy::kDiskQuota;
    }
    ended_.stdout_stream = std::move(streams_.out).finish();
    ended_.stderr_stream = std::move(streams_.err).finish();
    return std::move(ended_);
  }

  LiveRun& run_;
  Streams streams_;
  const Supervision& how_;
  Watches watches_;
  StopClock clock_;
  int stop_fd_;
  NetworkWatch network_{};
  bool over_ = false;
  bool tool_ended_ = false;
  std::optional<Error> error_;
  std::optional<StartFailed> failure_;
  Ended ended_;
};

}  // namespace

Result<Ended> supervise(StagedRun& staged, const Supervision& supervision, const std::stop_token& stop) {
  const EventFd stop_event = TRY(EventFd::create());
  const std::stop_callback wake(stop, [&stop_event] { stop_event.signal(); });
  const NullDevice null_device = staged.has_null_device() ? NullDevice::kOfTheJail : NullDevice::kOfTheHost;
  Streams streams = TRY(open_streams(supervision, null_device));
  const std::unique_ptr<LiveRun> run =
      TRY(staged.start({.in = streams.in.tools_end(), .out = streams.tools_out.get(), .err = streams.tools_err_end()}));
  if (!run) return fail(jail_unavailable(supervision.jail, "it started nothing"));
  return Supervisor(*run, std::move(streams), supervision, stop_event.fd()).to_the_end();
}

}  // namespace sallyport::spawn
