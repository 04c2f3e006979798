#include "spawn/posix/posix_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "core/errors.h"
#include "spawn/posix/frames.h"

namespace sallyport::spawn::posix {
namespace {

#ifdef MSG_NOSIGNAL
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;  // macOS: SO_NOSIGPIPE, set when the socket is made
#endif

constexpr std::chrono::milliseconds kMostAnAnswerTakes{500};
constexpr std::size_t kMostReports = 4;  // an init sends no more; a tool that took it over could send without end

class PosixRun final : public LiveRun {
 public:
  PosixRun(pid_t wrapper, UniqueFd channel, UniqueFd connections)
      : wrapper_(wrapper), channel_(std::move(channel)), connections_(std::move(connections)) {}
  PosixRun(const PosixRun&) = delete;
  PosixRun& operator=(const PosixRun&) = delete;
  ~PosixRun() override { reap(); }

  [[nodiscard]] int event_fd() const override { return channel_.get(); }

  [[nodiscard]] Result<RunReport> next() override {
    const Received received = early_.empty() ? receive() : Received::kReport;
    if (received == Received::kNothing) return RunReport(NothingNew{});
    if (received == Received::kEnd) return after_last();
    const Report report = early_.front();
    early_.pop_front();
    return translate(report);
  }

  void stop(StopStep step) override {
    stopped_ = true;
    switch (step) {
      case StopStep::kTerminate:
        return send(Command::kTerminate);
      case StopStep::kKill:
        return send(Command::kKill);
      case StopStep::kForce:
        return kill_all();  // the channel's end follows
      case StopStep::kAbandon:
        break;
    }
    reap();
  }

 private:
  enum class Received { kNothing, kReport, kEnd };

  // Puts a whole report into early_.
  [[nodiscard]] Received receive() {
    auto* const free = reinterpret_cast<char*>(&report_) + received_;
    const ssize_t got = ::recv(channel_.get(), free, sizeof report_ - received_, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return Received::kNothing;
    if (got <= 0) return Received::kEnd;
    received_ += static_cast<std::size_t>(got);
    if (received_ < sizeof report_) return Received::kNothing;
    received_ = 0;
    if (report_.kind == ReportKind::kStarted) tool_ = report_.tool;
    if (report_.kind == ReportKind::kEnded) ended_ = true;
    early_.push_back(report_);
    return Received::kReport;
  }

  [[nodiscard]] RunReport translate(const Report& report) {
    switch (report.kind) {
      case ReportKind::kReady:
        return ready();
      case ReportKind::kStarted:
        return ToolStarted{};
      case ReportKind::kFailed:
        failed_ = true;
        return StartFailed{.stage = report.stage, .error_number = report.error_number};
      case ReportKind::kEnded:
        break;
    }
    return ToolEnded{.wait_status = report.wait_status,
                     .usage = {.user = std::chrono::microseconds(report.user_us),
                               .system = std::chrono::microseconds(report.system_us),
                               .peak_rss_bytes = report.peak_rss_bytes}};
  }

  [[nodiscard]] RunReport ready() {
    if (!connections_) return NothingNew{};
    NetworkOpened network{.connections_handed = true};
    network.sockets.push_back(std::move(connections_));
    return network;
  }

  // Our init is gone, or never started: then the wrapper could not make the sandbox, and only its output says why. The
  // channel stays readable, so that the supervisor calls again and gets RunGone.
  [[nodiscard]] RunReport after_last() {
    const int status = reap();
    if (ended_ || std::exchange(failed_, true)) return RunGone{};
    if (tool_ > 0 || stopped_) return ToolEnded{.wait_status = status, .fate_unknown = true, .is_last = true};
    return StartFailed{.host_cannot = true, .said_on_stderr = true};
  }

  void send(Command command) const {
    while (::send(channel_.get(), &command, sizeof command, kNoSignal) < 0 && errno == EINTR) {
    }
  }

  // The init may have started a tool of which we have not read yet. It kills the group when it sees our end closed; we only
  // need the group's number for an init that does not answer.
  void learn_the_tool() {
    ::shutdown(channel_.get(), SHUT_WR);
    const auto deadline = std::chrono::steady_clock::now() + kMostAnAnswerTakes;
    while (tool_ == 0 && !ended_ && early_.size() < kMostReports) {
      const Received received = receive();
      if (received == Received::kEnd) return;
      if (received == Received::kReport) continue;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) return;
      pollfd watched{channel_.get(), POLLIN, 0};
      ::poll(&watched, 1, static_cast<int>(left.count()));
    }
  }

  // Until we reap the init, no other process can have its pid. As long as the init lives, it kills the tool's group;
  // without it, we do: the group's number cannot be reused while a process of the group is left.
  void kill_all() {
    if (!wrapper_) return;
    learn_the_tool();
    ::kill(*wrapper_, SIGKILL);
    if (tool_ > 1 && !ended_) ::kill(-tool_, SIGKILL);  // 1: such a report would name every process of ours
  }

  int reap() {
    kill_all();
    int status = 0;
    if (wrapper_) {
      while (::waitpid(*wrapper_, &status, 0) < 0 && errno == EINTR) {
      }
    }
    wrapper_.reset();
    return status;
  }

  std::optional<pid_t> wrapper_;
  UniqueFd channel_;
  UniqueFd connections_;
  Report report_{};
  std::size_t received_ = 0;
  std::deque<Report> early_;  // received, and not yet given out by next()
  pid_t tool_ = 0;
  bool ended_ = false;
  bool failed_ = false;
  bool stopped_ = false;
};

struct Channel {
  UniqueFd ours;
  UniqueFd inits;
};

Result<Channel> make_channel() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    return fail(system_error("create", "a socket pair", errno));
  }
  Channel channel{.ours = UniqueFd(ends[0]), .inits = UniqueFd(ends[1])};
  for (const int fd : ends) {
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return fail(system_error("close on exec", "a socket", errno));
#ifdef SO_NOSIGPIPE
    const int on = 1;
    if (::setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) != 0) {
      return fail(system_error("silence", "a socket", errno));
    }
#endif
  }
  return channel;
}

// Descriptors for the child; each is first moved above the numbers that they get there.
class Actions {
 public:
  Actions() { ::posix_spawn_file_actions_init(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }

  [[nodiscard]] Status give(int fd, int as) {
    UniqueFd high(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree));
    if (!high) return fail(system_error("duplicate", "a descriptor", errno));
    const int error = ::posix_spawn_file_actions_adddup2(&actions_, high.get(), as);
    if (error != 0) return fail(system_error("pass on", "a descriptor", error));
    held_.push_back(std::move(high));
    return {};
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  static constexpr int kFirstFree = kCwdFd + 1;
  posix_spawn_file_actions_t actions_{};
  std::vector<UniqueFd> held_;
};

// Default signals for the child, whatever the caller blocks or ignores.
class Attributes {
 public:
  Attributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none{};
    sigset_t all{};
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#ifdef POSIX_SPAWN_CLOEXEC_DEFAULT
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;  // macOS: the child inherits only what we give it
#endif
    ::posix_spawnattr_setflags(&attributes_, flags);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::vector<std::string> command_of(const Launch& launch) {
  std::vector<std::string> command = launch.wrapper;
  command.push_back(launch.init);
  for (const ResourceLimit& limit : launch.limits) {
    command.push_back(fmt::format("{}:{}:{}", limit.resource, limit.soft, limit.hard));
  }
  command.emplace_back(kEndOfLimits);
  command.push_back(launch.exe);
  command.insert(command.end(), launch.argv.begin(), launch.argv.end());
  return command;
}

Result<std::unique_ptr<LiveRun>> start_run(const Launch& launch, const ToolStreams& streams, UniqueFd connections) {
  Channel channel = TRY(make_channel());
  Actions actions;
  TRY(actions.give(streams.in, STDIN_FILENO));
  TRY(actions.give(streams.out, STDOUT_FILENO));
  TRY(actions.give(streams.err, STDERR_FILENO));
  TRY(actions.give(channel.inits.get(), kChannelFd));
  TRY(actions.give(launch.cwd, kCwdFd));
  std::vector<std::string> argv = command_of(launch);
  std::vector<std::string> env = launch.env;
  const Attributes attributes;
  pid_t wrapper = 0;
  const int error = ::posix_spawn(&wrapper, argv.front().c_str(), actions.get(), attributes.get(),
                                  pointers_to(argv).data(), pointers_to(env).data());
  if (error != 0) {
    return fail(setup_failed({.stage = SetupStage::kJail, .error_number = error}));
  }
  return std::make_unique<PosixRun>(wrapper, std::move(channel.ours), std::move(connections));
}

}  // namespace sallyport::spawn::posix
