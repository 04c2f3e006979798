// Our own process inside a wrapper's sandbox, by POSIX alone (spawn/posix/frames.h): it starts the tool in a process group of its
// own, reports, obeys the owner, and kills the group when the tool or the owner has ended. It is confined as the tool
// is, so the tool gains nothing by attacking it; when this process is gone, the owner kills the group itself.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "spawn/posix/frames.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace sallyport::spawn::posix {
namespace {

constexpr int kMostTried = 1 << 20;

int child_ended_fd = -1;  // written to by the signal handler

void on_child(int) {
  const int saved = errno;
  static_cast<void>(!::write(child_ended_fd, "!", 1));
  errno = saved;
}

bool send(const Report& report) {
  const auto* bytes = reinterpret_cast<const char*>(&report);
  for (std::size_t sent = 0; sent < sizeof report;) {
    const ssize_t put = ::write(kChannelFd, bytes + sent, sizeof report - sent);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    sent += static_cast<std::size_t>(put);
  }
  return true;
}

[[noreturn]] void give_up(SetupStage stage, int error) {
  static_cast<void>(send({.kind = ReportKind::kFailed, .stage = stage, .error_number = error}));
  ::_exit(1);
}

void set_limit(const char* text) {
  unsigned resource = 0;
  unsigned long long soft = 0;
  unsigned long long hard = 0;
  if (std::sscanf(text, "%u:%llu:%llu", &resource, &soft, &hard) != 3) give_up(SetupStage::kLimits, EINVAL);
  rlimit limit{};
  limit.rlim_cur = static_cast<rlim_t>(soft);
  limit.rlim_max = static_cast<rlim_t>(hard);
  if (::setrlimit(static_cast<int>(resource), &limit) != 0) give_up(SetupStage::kLimits, errno);
}

// Closes what the caller had open without close-on-exec. Where the sandbox hides the list of open descriptors (macOS,
// which passes on nothing else anyway), it tries every number.
void close_the_rest() {
  std::vector<int> open;
  if (DIR* const list = ::opendir("/dev/fd"); list != nullptr) {
    while (const dirent* const entry = ::readdir(list)) open.push_back(std::atoi(entry->d_name));
    ::closedir(list);
  } else {
    const long most = ::sysconf(_SC_OPEN_MAX);
    const int end = most < 0 || most > kMostTried ? kMostTried : static_cast<int>(most);
    for (int fd = 0; fd < end; ++fd) open.push_back(fd);
  }
  for (const int fd : open) {
    if (fd > kCwdFd) ::close(fd);
  }
}

pid_t start(const char* exe, char** argv) {
  posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  sigset_t none{};
  sigset_t all{};
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t tool = 0;
  const int error = ::posix_spawn(&tool, exe, nullptr, &attributes, argv, environ);
  if (error != 0) give_up(SetupStage::kExec, error);
  return tool;
}

// Signals the leader by its pid too: it may have moved to another group, and until we reap it the pid is its own.
void signal_all(pid_t tool, int number) {
  ::kill(-tool, number);
  ::kill(tool, number);
}

std::uint64_t microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000U + static_cast<std::uint64_t>(time.tv_usec);
}

Report report_of(int wait_status) {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
#ifdef __APPLE__
  constexpr std::uint64_t kUnit = 1;
#else
  constexpr std::uint64_t kUnit = 1024;
#endif
  return {.kind = ReportKind::kEnded,
          .wait_status = wait_status,
          .user_us = microseconds(used.ru_utime),
          .system_us = microseconds(used.ru_stime),
          .peak_rss_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * kUnit};
}

// True when the owner is gone.
bool obey(pid_t tool) {
  char command = 0;
  const ssize_t got = ::read(kChannelFd, &command, 1);
  if (got < 0 && errno == EINTR) return false;
  if (got <= 0) return true;
  signal_all(tool, static_cast<Command>(command) == Command::kTerminate ? SIGTERM : SIGKILL);
  return false;
}

void supervise(pid_t tool, int child_ended) {
  for (bool owner_gone = false;;) {
    std::array<pollfd, 2> watched = {{{owner_gone ? -1 : kChannelFd, POLLIN, 0}, {child_ended, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) owner_gone = true;
    if (!owner_gone && watched[0].revents != 0) owner_gone = obey(tool);
    if (owner_gone) signal_all(tool, SIGKILL);
    for (char byte = 0; ::read(child_ended, &byte, 1) == 1;) {
    }
    int status = 0;
    if (::waitpid(tool, &status, WNOHANG) != tool) continue;
    ::kill(-tool, SIGKILL);  // what is left of its group
    if (!owner_gone) static_cast<void>(send(report_of(status)));
    return;
  }
}

}  // namespace

int run(int argc, char** argv) {
  close_the_rest();
  std::array<int, 2> ends{};
  if (::fcntl(kChannelFd, F_SETFD, FD_CLOEXEC) != 0) return 1;  // no channel to report on
  ::signal(SIGPIPE, SIG_IGN);
  int next = 1;
  for (; next < argc && std::strcmp(argv[next], kEndOfLimits) != 0; ++next) set_limit(argv[next]);
  if (next + 2 >= argc) give_up(SetupStage::kReceive, EINVAL);
  if (::setsid() < 0) give_up(SetupStage::kSession, errno);  // no terminal to type into
  if (::fchdir(kCwdFd) != 0) give_up(SetupStage::kWorkingDirectory, errno);
  ::close(kCwdFd);
  if (::pipe(ends.data()) != 0) give_up(SetupStage::kStdio, errno);
  for (const int fd : ends) {
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
      give_up(SetupStage::kStdio, errno);
    }
  }
  child_ended_fd = ends[1];
  struct sigaction action{};
  action.sa_handler = on_child;
  action.sa_flags = SA_NOCLDSTOP;
  ::sigemptyset(&action.sa_mask);
  if (::sigaction(SIGCHLD, &action, nullptr) != 0) give_up(SetupStage::kStdio, errno);
  static_cast<void>(send({.kind = ReportKind::kReady}));
  const pid_t tool = start(argv[next + 1], argv + next + 2);
  // The tool's streams are its own: readers must not wait for an end that this process holds.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
  static_cast<void>(send({.kind = ReportKind::kStarted, .tool = tool}));
  supervise(tool, ends[0]);
  return 0;
}

}  // namespace sallyport::spawn::posix

int main(int argc, char** argv) { return sallyport::spawn::posix::run(argc, argv); }
