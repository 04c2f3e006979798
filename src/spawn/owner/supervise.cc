#include "spawn/owner/supervise.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/errors.h"
#include "os/event_fd.h"
#include "os/pipe.h"
#include "spawn/owner/capture.h"
#include "spawn/owner/tool_input.h"
#include "spawn/owner/watches.h"

namespace sallyport::spawn {
namespace {

using Clock = std::chrono::steady_clock;

// A reaper that is not held up needs less to kill and reap thousands; on a busy machine its turn comes later.
constexpr std::chrono::milliseconds kTimeToFinish{100};
// After SIGKILL. The kernel needs a while for a tree of thousands, or of many gigabytes.
constexpr std::chrono::milliseconds kTimeToDie{30000};
// One loud stream must not starve the deadline: about this much per turn of the loop.
constexpr std::size_t kBytesPerTurn = Capture::kBusyPipeCapacity;
// More than a pipe holds that the tool itself made as large as it may (1 MiB), and an end to it when somebody outside
// keeps writing after the run is over.
constexpr std::size_t kLastBytes = std::size_t{2} << 20U;

struct Streams {
  ToolInput in;
  Capture out;
  Capture err;
};

class Run {
 public:
  Run(HelperClient& helper, Started started, Streams streams, const Supervision& how, int stop_fd)
      : helper_(helper),
        channel_(std::move(started.channel)),
        init_(started.init),
        streams_(std::move(streams)),
        how_(how),
        watches_(how),
        stop_fd_(stop_fd) {}
  ~Run() {
    if (channel_) command(wire::Command::kKill);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] Result<Ended> to_the_end() {
    while (channel_) {
      // A stream whose reader is behind is left alone until that one has caught up.
      const int out_waits = waits_for(Stream::kStdout, streams_.out);
      const int err_waits = waits_for(Stream::kStderr, streams_.err);
      std::array<pollfd, 7> watched = {{stream_event(out_waits, streams_.out),
                                        stream_event(err_waits, streams_.err),
                                        {channel_.get(), POLLIN, 0},
                                        {stopping() ? -1 : stop_fd_, POLLIN, 0},
                                        {stopping() ? -1 : network_fd_, POLLIN, 0},
                                        {stopping() ? -1 : how_.stop_fd, POLLIN, 0},
                                        tool_started_ ? streams_.in.awaited() : pollfd{-1, 0, 0}}};
      if (::poll(watched.data(), watched.size(), poll_timeout()) < 0 && errno != EINTR) {
        return fail(system_error("wait for", "the run", errno));
      }
      if (watched[0].revents != 0 && out_waits < 0) streams_.out.drain(how_.tap, kBytesPerTurn);
      if (watched[1].revents != 0 && err_waits < 0) streams_.err.drain(how_.tap, kBytesPerTurn);
      if (watched[2].revents != 0) receive_report();
      if (watched[3].revents != 0 || watched[5].revents != 0) stop_because(EndedBy::kStop);
      if (watched[4].revents != 0) stop_because(EndedBy::kNetwork);
      if (watched[6].revents != 0) copy_input();
      keep_time();
      if (stopping()) continue;
      if (const std::optional<EndedBy> limit = watches_.reached(ended_)) stop_because(*limit);
    }
    return finish();
  }

  // After the end: the jail reported it, so nothing was started in it. One that dies without a report may have started.
  [[nodiscard]] bool jail_was_unsound() const {
    return !stopping() && failure_ && (failure_->flags & wire::kNotBuilt) != 0;
  }

 private:
  [[nodiscard]] int waits_for(Stream stream, const Capture& capture) const {
    return how_.tap_waits_for && capture.fd() >= 0 ? how_.tap_waits_for(stream) : -1;
  }

  static pollfd stream_event(int reader, const Capture& capture) {
    if (reader >= 0) return {reader, POLLOUT, 0};
    return {capture.fd(), POLLIN, 0};
  }

  [[nodiscard]] bool stopping() const { return ended_.by != EndedBy::kItself; }

  static int signal_of(wire::Command command) {
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

  void command(wire::Command command) const {
    if (init_) {
      // Nobody has reaped it yet, so the pid is still its own.
      ::kill(*init_, signal_of(command));
      return;
    }
    // Who is already gone needs no command; end-of-file on the channel follows.
    while (::send(channel_.get(), &command, sizeof command, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
  }

  void stop_because(EndedBy reason) {
    if (stopping()) return;
    ended_.by = reason;
    if (reason != EndedBy::kDeadline && reason != EndedBy::kStop) {
      finish_off();
      return;
    }
    command(wire::Command::kTerminate);
    // Never later than one and a half times the deadline, also when that is shorter than the usual grace (C9).
    kill_at_ = Clock::now() + std::min(how_.ladder.grace, how_.wall / 4);
  }

  // A tool whose input ends early must not run on as if that were all of it.
  void copy_input() {
    Status copied = streams_.in.copy();
    if (copied || stopping()) return;
    error_ = std::move(copied).error();
    stop_because(EndedBy::kNetwork);
  }

  // The reaper first, which then tells what all of them used; it dies too when it does not answer soon.
  void finish_off() {
    if (!tool_started_ || finishing_) {
      command(wire::Command::kKill);
      killed_ = true;
      give_up_at_ = Clock::now() + (tool_started_ ? kTimeToDie : std::min(kTimeToDie, how_.wall / 8));
      return;
    }
    command(wire::Command::kFinish);
    finishing_ = true;
    kill_at_ = Clock::now() + std::min<std::chrono::milliseconds>(kTimeToFinish, how_.wall / 8);
  }

  void keep_time() {
    const Clock::time_point now = Clock::now();
    if (!stopping() && now >= started_ + how_.wall) stop_because(EndedBy::kDeadline);
    if (killed_ && now >= give_up_at_) give_up();
    if (stopping() && !killed_ && now >= kill_at_) finish_off();
  }

  // Nobody hears our commands: a helper that is broken, or has no child to take the request. It dies, and all below it.
  void give_up() {
    if (init_) {
      end_init();
    } else {
      helper_.abandon();
    }
    channel_.reset();
    gave_up_ = true;
  }

  [[nodiscard]] int poll_timeout() const {
    Clock::time_point next = std::min(started_ + how_.wall, watches_.next(ended_));
    if (stopping()) next = killed_ ? give_up_at_ : kill_at_;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }

  void receive_report() {
    wire::Report report{};
    iovec part{&report, sizeof report};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * wire::kMaxNetFds)> passed{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = passed.data();
    message.msg_controllen = passed.size();
    const ssize_t size = ::recvmsg(channel_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size != sizeof report) {
      channel_.reset();  // whoever minded it, and so the whole tree, is gone
      if (init_) end_init();
      return;
    }
    accept_report(report, descriptors_of(message));
  }

  // It has closed its end, or ours is broken: either way nobody supervises it any more.
  void end_init() {
    ::kill(*init_, SIGKILL);
    await_init();
  }

  // The kernel lets the first process of a pid namespace end last. Its wait status is left for whoever reaps it.
  void await_init() {
    siginfo_t info{};
    rusage usage{};
    while (::syscall(SYS_waitid, P_PID, *init_, &info, WEXITED | WNOWAIT, &usage) != 0) {
      if (errno != EINTR) return;
    }
    const bool killed = info.si_code != CLD_EXITED;
    if (tool_exited_ || !killed) return;  // init leaves with 0 once it has told us everything
    wire::Report report{};
    report.kind = wire::ReportKind::kExited;
    report.flags = wire::kInitDied;
    report.wait_status = info.si_status;
    wire::put_usage(usage, report);
    accept_report(report, {});
  }

  static std::vector<UniqueFd> descriptors_of(msghdr& message) {
    std::vector<UniqueFd> fds;
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return fds;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
    return fds;
  }

  void accept_network(std::vector<UniqueFd> sockets, std::uint32_t flags) {
    if (!how_.on_network) return;
    Result<int> watch = how_.on_network({.sockets = std::move(sockets),
                                         .ports_redirected = (flags & wire::kPortsRedirected) != 0,
                                         .refusals_shown = (flags & wire::kRefusalsShown) != 0});
    if (watch) {
      network_fd_ = *watch;
      return;
    }
    error_ = std::move(watch).error();
    stop_because(EndedBy::kNetwork);
  }

  void accept_report(const wire::Report& report, std::vector<UniqueFd> fds) {
    switch (report.kind) {
      case wire::ReportKind::kNetwork:
        accept_network(std::move(fds), report.flags);
        break;
      case wire::ReportKind::kStarted:
        if (!fds.empty()) ended_.scratch = std::move(fds.front());
        tool_started_ = true;
        ended_.landlocked = (report.flags & wire::kAppliedLandlock) != 0;
        break;
      case wire::ReportKind::kFailed:
        failure_ = report;
        break;
      case wire::ReportKind::kExited:
        // A wrapper's own end matters only when our init inside it could not tell the tool's.
        if ((report.flags & wire::kWrapperExited) != 0 && tool_exited_) break;
        wrapper_exited_ = (report.flags & wire::kWrapperExited) != 0;
        tool_exited_ = true;
        ended_.wait_status = report.wait_status;
        ended_.fate_unknown = (report.flags & (wire::kWrapperExited | wire::kInitDied)) != 0;
        ended_.duration = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - started_);
        ended_.usage = {.user = std::chrono::microseconds(report.user_us),
                        .system = std::chrono::microseconds(report.system_us),
                        .peak_rss_bytes = report.peak_rss_bytes};
        if ((report.flags & wire::kNobodyLeft) != 0) channel_.reset();
        break;
    }
  }

  // The wrapper never got as far as starting the tool; what it printed is the only witness.
  [[nodiscard]] Error wrapper_failure() {
    streams_.err.drain({}, kLastBytes);
    const std::string said = std::move(streams_.err).finish().bytes;
    return jail_unavailable("bwrap", said.empty() ? "it gave up without a word" : said.substr(0, said.find('\n')));
  }

  // The deadline counts from the call, whatever failed: nothing of the run ever lived.
  [[nodiscard]] Result<Ended> never_started() {
    ended_.wait_status = SIGKILL;
    ended_.duration = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - started_);
    return std::move(ended_);
  }

  [[nodiscard]] Result<Ended> finish() {
    if (error_) return fail(*std::move(error_));
    if (failure_) return fail(setup_failed(stage_name(failure_->stage), failure_->error));
    if (gave_up_ && !tool_started_ && !tool_exited_) return never_started();
    if (wrapper_exited_ && !tool_started_ && !stopping()) return fail(wrapper_failure());
    if ((!tool_started_ && !stopping()) || !tool_exited_) {
      return fail(
          system_error("hear from", "the spawn helper", ECONNRESET,
                       "the helper was killed; a jailed tool died with it, and the next call starts a new one"));
    }
    // Everything is dead, so what the pipes hold is all there will ever be; somebody outside may still hold an end.
    streams_.out.drain(how_.tap, kLastBytes);
    streams_.err.drain(how_.tap, kLastBytes);
    // A part of the output is lost: that is no result.
    const int unread = streams_.out.error() != 0 ? streams_.out.error() : streams_.err.error();
    if (unread != 0) return fail(system_error("read", "the tool's output", unread));
    // Not once more when the quota ended it: the file that filled scratch may be gone by now.
    const bool look_again = how_.disk_quota && ended_.scratch && ended_.by != EndedBy::kDiskQuota;
    if (look_again && watches_.scratch_is_full(ended_) && !stopping()) ended_.by = EndedBy::kDiskQuota;
    ended_.stdout_stream = std::move(streams_.out).finish();
    ended_.stderr_stream = std::move(streams_.err).finish();
    return std::move(ended_);
  }

  HelperClient& helper_;
  UniqueFd channel_;
  std::optional<pid_t> init_;
  Streams streams_;
  const Supervision& how_;
  Watches watches_;
  int stop_fd_;
  const Clock::time_point started_ = Clock::now();
  Clock::time_point kill_at_{};
  Clock::time_point give_up_at_{};
  bool gave_up_ = false;
  bool finishing_ = false;
  bool killed_ = false;
  bool tool_started_ = false;
  bool tool_exited_ = false;
  bool wrapper_exited_ = false;
  int network_fd_ = -1;
  std::optional<Error> error_;
  std::optional<wire::Report> failure_;
  Ended ended_;
};

using Start = std::function<Result<StartedRun>(Stdio)>;

// `unsound` instead of an end: the jail had been built ahead, was not sound, and nothing was started in it.
struct Attempt {
  std::optional<Ended> ended{};
  StartedRun unsound{};
};

Result<Attempt> attempt(const Start& start, const LaunchSpec& spec, const Supervision& supervision,
                        const std::stop_token& stop) {
  const EventFd stop_event = TRY(EventFd::create());
  const std::stop_callback wake(stop, [&stop_event] { stop_event.signal(); });
  // Only our own init opens one inside; a wrapper's init replaces the host's that it finds.
  const bool jail_of_ours = std::holds_alternative<JailPlace>(spec.place);
  ToolInput input =
      TRY(ToolInput::open(supervision.stdin_source, jail_of_ours ? NullDevice::kOfTheJail : NullDevice::kOfTheHost));
  Pipe out = TRY(make_pipe());
  Pipe err = TRY(make_pipe());
  TRY(set_nonblocking(out.read_end.get()));
  TRY(set_nonblocking(err.read_end.get()));
  StartedRun started = TRY(start({.in = input.tools_end(), .out = out.write_end.get(), .err = err.write_end.get()}));
  if (supervision.another_follows) static_cast<void>(started.helper->start_ahead());  // else the next run does
  input.handed_over();
  out.write_end.reset();
  err.write_end.reset();
  Streams streams{std::move(input), Capture(std::move(out.read_end), Stream::kStdout, supervision.max_output),
                  Capture(std::move(err.read_end), Stream::kStderr, supervision.max_output)};
  Run run(*started.helper, std::move(started.run), std::move(streams), supervision, stop_event.fd());
  Result<Ended> ended = run.to_the_end();
  if (started.built_ahead && run.jail_was_unsound()) return Attempt{.unsound = std::move(started)};
  return Attempt{.ended = TRY(std::move(ended))};
}

}  // namespace

Result<Ended> supervise(JailSupply& supply, const LaunchSpec& spec, const Supervision& supervision,
                        const std::stop_token& stop) {
  const Start first = [&](Stdio stdio) { return supply.start(spec, stdio); };
  Attempt made = TRY(attempt(first, spec, supervision, stop));
  if (made.ended) return *std::move(made.ended);
  const Start second = [&](Stdio stdio) { return supply.start_instead_of(made.unsound, spec, stdio); };
  // Not built ahead, so it ends.
  return *std::move(TRY(attempt(second, spec, supervision, stop)).ended);
}

}  // namespace sallyport::spawn
