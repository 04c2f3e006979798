#include "spawn/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "core/errors.h"
#include "os/event_fd.h"
#include "os/memfd.h"
#include "os/pipe.h"
#include "spawn/capture.h"

namespace sallyport::spawn {
namespace {

using Clock = std::chrono::steady_clock;

// How often scratch is looked at while a run has a quota. statfs on tmpfs costs about a microsecond.
constexpr std::chrono::milliseconds kDiskWatchInterval{10};
// The kernel's own count moves on with its tick.
constexpr std::chrono::milliseconds kShortestCpuWatch{2};
// One loud stream must not starve the deadline: about this much per turn of the loop.
constexpr std::size_t kBytesPerTurn = Capture::kBusyPipeCapacity;
// More than a pipe holds that the tool itself made as large as it may (1 MiB), and an end to it when somebody outside
// keeps writing after the run is over.
constexpr std::size_t kLastBytes = std::size_t{2} << 20U;

Result<UniqueFd> open_stdin(const StdinSource& source) {
  return std::visit(
      overloaded{[](const NullStdin&) -> Result<UniqueFd> {
                   UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
                   if (!null) return fail(system_error("open", "/dev/null", errno));
                   return null;
                 },
                 // A sealed file instead of a pipe: nothing to write from here, so no deadlock and no SIGPIPE.
                 [](const StdinBytes& input) { return sealed_memfd("sallyport-stdin", input.bytes); },
                 [](const StdinFd& borrowed) -> Result<UniqueFd> {
                   UniqueFd copy(::fcntl(borrowed.fd, F_DUPFD_CLOEXEC, 3));
                   if (!copy) return fail(system_error("use", "the given standard input", errno));
                   return copy;
                 }},
      source);
}

struct Streams {
  Capture out;
  Capture err;
};

class Run {
 public:
  Run(Started started, Streams streams, const Supervision& how, int stop_fd)
      : channel_(std::move(started.channel)),
        init_(started.init),
        streams_(std::move(streams)),
        how_(how),
        stop_fd_(stop_fd) {}
  ~Run() {
    if (channel_) command(wire::Command::kKill);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] Result<Ended> to_the_end() {
    while (channel_) {
      std::array<pollfd, 6> watched = {{{streams_.out.fd(), POLLIN, 0},
                                        {streams_.err.fd(), POLLIN, 0},
                                        {channel_.get(), POLLIN, 0},
                                        {stopping() ? -1 : stop_fd_, POLLIN, 0},
                                        {stopping() ? -1 : network_fd_, POLLIN, 0},
                                        {stopping() ? -1 : how_.stop_fd, POLLIN, 0}}};
      if (::poll(watched.data(), watched.size(), poll_timeout()) < 0 && errno != EINTR) {
        return fail(system_error("wait for", "the run", errno));
      }
      if (watched[0].revents != 0) streams_.out.drain(how_.tap, kBytesPerTurn);
      if (watched[1].revents != 0) streams_.err.drain(how_.tap, kBytesPerTurn);
      if (watched[2].revents != 0) receive_report();
      if (watched[3].revents != 0 || watched[5].revents != 0) stop_because(EndedBy::kStop);
      if (watched[4].revents != 0) stop_because(EndedBy::kNetwork);
      keep_time();
      watch_disk();
      watch_cpu();
    }
    return finish();
  }

  // After the end: it said so itself, so nothing was started in it. A jail that dies without a word may have begun.
  [[nodiscard]] bool jail_was_no_good() const {
    return !stopping() && failure_ && (failure_->flags & wire::kNotBuilt) != 0;
  }

 private:
  [[nodiscard]] bool stopping() const { return ended_.by != EndedBy::kItself; }

  void command(wire::Command command) const {
    if (init_) {
      // Nobody has reaped it yet, so the pid is still its own.
      ::kill(*init_, command == wire::Command::kTerminate ? SIGTERM : SIGKILL);
      return;
    }
    // Who is already gone needs no command; end-of-file on the channel follows.
    while (::send(channel_.get(), &command, sizeof command, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
  }

  void stop_because(EndedBy reason) {
    if (stopping()) return;
    ended_.by = reason;
    if (reason == EndedBy::kDiskQuota || reason == EndedBy::kCpuTime || reason == EndedBy::kNetwork) {
      command(wire::Command::kKill);
      killed_ = true;
      return;
    }
    command(wire::Command::kTerminate);
    // Never later than one and a half times the deadline, also when that is shorter than the usual grace (C9).
    kill_at_ = Clock::now() + std::min(how_.ladder.grace, how_.wall / 4);
  }

  void keep_time() {
    const Clock::time_point now = Clock::now();
    if (!stopping() && now >= started_ + how_.wall) stop_because(EndedBy::kDeadline);
    if (stopping() && !killed_ && now >= kill_at_) {
      command(wire::Command::kKill);
      killed_ = true;
    }
  }

  void watch_disk() {
    if (!how_.disk_quota || !ended_.scratch || killed_) return;
    const Clock::time_point now = Clock::now();
    if (now < next_disk_look_) return;
    next_disk_look_ = now + kDiskWatchInterval;
    if (look_at_disk()) stop_because(EndedBy::kDiskQuota);
  }

  // Looks again no sooner than all processors together could have used up what is left.
  void watch_cpu() {
    if (!how_.cpu || stopping() || Clock::now() < next_cpu_look_) return;
    const std::chrono::microseconds left = how_.cpu->limit - how_.cpu->used().value_or(how_.cpu->limit);
    if (left.count() <= 0) return stop_because(EndedBy::kCpuTime);
    static const unsigned processors = std::max(1U, std::thread::hardware_concurrency());  // asking opens a file
    next_cpu_look_ = Clock::now() + std::max<Clock::duration>(left / processors, kShortestCpuWatch);
  }

  // True when scratch is full. The quota is the size of its file system, so the kernel has been the judge; but bwrap cannot
  // bound the number of files, so there we are.
  bool look_at_disk() {
    struct statfs usage{};
    if (::fstatfs(ended_.scratch.get(), &usage) != 0) return false;
    ended_.scratch_used = (usage.f_blocks - usage.f_bfree) * static_cast<std::uint64_t>(usage.f_bsize);
    ended_.scratch_files = usage.f_files - usage.f_ffree;
    return usage.f_bfree == 0 || ended_.scratch_files >= scratch_files(*how_.disk_quota);
  }

  [[nodiscard]] int poll_timeout() const {
    if (killed_) return -1;
    Clock::time_point next = stopping() ? kill_at_ : started_ + how_.wall;
    if (how_.disk_quota && ended_.scratch) next = std::min(next, next_disk_look_);
    if (how_.cpu && !stopping()) next = std::min(next, next_cpu_look_);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }

  void receive_report() {
    wire::Report report{};
    iovec part{&report, sizeof report};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * wire::kMaxNetSockets)> passed{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = passed.data();
    message.msg_controllen = passed.size();
    const ssize_t size = ::recvmsg(channel_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size != sizeof report) {
      channel_.reset();  // whoever minded it, and so the whole tree, is gone
      if (init_) await_init();
      return;
    }
    accept_report(report, descriptors_of(message));
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

  void accept_network(std::vector<UniqueFd> sockets, bool redirected) {
    if (!how_.on_network) return;
    Result<int> watch = how_.on_network({.sockets = std::move(sockets), .ports_redirected = redirected});
    if (watch) {
      network_fd_ = *watch;
      return;
    }
    network_error_ = std::move(watch).error();
    stop_because(EndedBy::kNetwork);
  }

  void accept_report(const wire::Report& report, std::vector<UniqueFd> fds) {
    switch (report.kind) {
      case wire::ReportKind::kNetwork:
        accept_network(std::move(fds), (report.flags & wire::kPortsRedirected) != 0);
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

  [[nodiscard]] Result<Ended> finish() {
    if (network_error_) return fail(*std::move(network_error_));
    if (failure_) return fail(setup_failed(stage_name(failure_->stage), failure_->error));
    if (wrapper_exited_ && !tool_started_ && !stopping()) return fail(wrapper_failure());
    if ((!tool_started_ && !stopping()) || !tool_exited_) {
      return fail(
          system_error("hear from", "the spawn helper", ECONNRESET,
                       "the helper was killed; a jailed tool died with it, and the next call starts a new one"));
    }
    // Everything is dead, so what the pipes hold is all there will ever be; somebody outside may still hold an end.
    streams_.out.drain(how_.tap, kLastBytes);
    streams_.err.drain(how_.tap, kLastBytes);
    if (how_.disk_quota && ended_.scratch && look_at_disk() && !stopping()) ended_.by = EndedBy::kDiskQuota;
    ended_.stdout_stream = std::move(streams_.out).finish();
    ended_.stderr_stream = std::move(streams_.err).finish();
    return std::move(ended_);
  }

  UniqueFd channel_;
  std::optional<pid_t> init_;
  Streams streams_;
  const Supervision& how_;
  int stop_fd_;
  const Clock::time_point started_ = Clock::now();
  Clock::time_point kill_at_{};
  Clock::time_point next_disk_look_{};
  Clock::time_point next_cpu_look_{};
  bool killed_ = false;
  bool tool_started_ = false;
  bool tool_exited_ = false;
  bool wrapper_exited_ = false;
  int network_fd_ = -1;
  std::optional<Error> network_error_;
  std::optional<wire::Report> failure_;
  Ended ended_;
};

}  // namespace

namespace {

Result<std::optional<Ended>> supervise_until_end(SpawnServer& server, const LaunchSpec& spec,
                                                 const Supervision& supervision, const std::stop_token& stop,
                                                 bool only_if_sound) {
  const EventFd stop_event = TRY(EventFd::create());
  const std::stop_callback wake(stop, [&stop_event] { stop_event.signal(); });
  UniqueFd input = TRY(open_stdin(supervision.stdin_source));
  Pipe out = TRY(make_pipe());
  Pipe err = TRY(make_pipe());
  TRY(set_nonblocking(out.read_end.get()));
  TRY(set_nonblocking(err.read_end.get()));
  Started started =
      TRY(server.submit(spec, {.in = input.get(), .out = out.write_end.get(), .err = err.write_end.get()}));
  input.reset();
  out.write_end.reset();
  err.write_end.reset();
  Streams streams{Capture(std::move(out.read_end), Stream::kStdout, supervision.max_output),
                  Capture(std::move(err.read_end), Stream::kStderr, supervision.max_output)};
  Run run(std::move(started), std::move(streams), supervision, stop_event.fd());
  Result<Ended> ended = run.to_the_end();
  if (only_if_sound && run.jail_was_no_good()) return std::optional<Ended>();
  return ended;
}

}  // namespace

Result<Ended> supervise(SpawnServer& server, const LaunchSpec& spec, const Supervision& supervision,
                        const std::stop_token& stop) {
  return *TRY(supervise_until_end(server, spec, supervision, stop, false));
}

Result<std::optional<Ended>> supervise_if_sound(SpawnServer& server, const LaunchSpec& spec,
                                                const Supervision& supervision, const std::stop_token& stop) {
  return supervise_until_end(server, spec, supervision, stop, true);
}

}  // namespace sallyport::spawn
