// The spawn helper: a small process that keeps idle workers ready and buries them. It runs none of the caller's code and
// has none of the caller's memory, environment or descriptors. Idle workers read requests straight from the control
// socket (a packet goes to exactly one of them), so a request never waits for this process.
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/poll.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

constexpr std::size_t kMaxWorkers = 65536;
constexpr long kQuietMilliseconds = 4;

struct Worker {
  int pid;
  bool idle;
};
Worker workers[kMaxWorkers];
std::size_t worker_count = 0;

// What every worker gets, and what the server polls.
struct Service {
  int control;
  int shape_fd;  // or kNoShape
  std::uint32_t idle_workers;
  int started[2];  // a worker that has work writes its pid here
};

void mark_busy(int pid) {
  for (std::size_t i = 0; i < worker_count; ++i) {
    if (workers[i].pid == pid) workers[i].idle = false;
  }
}

// True when it had not taken a request yet: somebody killed it, or the owner closed the control socket.
bool forget(long pid) {
  for (std::size_t i = 0; i < worker_count; ++i) {
    if (workers[i].pid != pid) continue;
    const bool was_idle = workers[i].idle;
    workers[i] = workers[--worker_count];
    return was_idle;
  }
  return false;
}

struct Reaped {
  bool all_gone;
  std::uint32_t idle_ones;
};

Reaped reap() {
  for (Reaped reaped = {};;) {
    int status = 0;
    const long pid = sys(__NR_wait4, -1L, &status, 1L /* WNOHANG */, 0L);
    reaped.all_gone = pid == -10;  // ECHILD
    if (pid <= 0) return reaped;
    if (forget(pid)) ++reaped.idle_ones;
  }
}

void start_worker(const Service& service) {
  if (worker_count == kMaxWorkers) return;
  const long server = sys(__NR_getpid);
  const long pid = sys(__NR_clone, long{SIGCHLD}, 0L, 0L, 0L, 0L);
  if (pid == 0) {
    sys(__NR_prctl, long{PR_SET_PDEATHSIG}, long{SIGKILL}, 0L, 0L, 0L);
    if (sys(__NR_getppid) != server) exit_now(0);
    run_worker(service.control, service.started[1], service.shape_fd);
  }
  if (pid > 0) workers[worker_count++] = {static_cast<int>(pid), true};
}

bool any_idle() {
  for (std::size_t i = 0; i < worker_count; ++i) {
    if (workers[i].idle) return true;
  }
  return false;
}

bool requests_wait(int control) {
  struct pollfd requests = {control, POLLIN, 0};
  return sys(__NR_poll, &requests, 1L, 0L) > 0;
}

// How many workers have taken a request since the last look.
std::uint32_t note_started(const Service& service) {
  int pids[16];
  const long size = sys(__NR_read, long{service.started[0]}, pids, long{sizeof pids});
  std::uint32_t count = 0;
  for (; size > 0 && count < size / sizeof(int); ++count) mark_busy(pids[count]);
  return count;
}

// The owner is gone. Its sockets may live on in a process it forked, so do not wait for them to close: workers die now,
// jails with them; what an unjailed tool left behind falls to us, the next subreaper, and is killed too.
[[noreturn]] void end_everything() {
  for (std::size_t i = 0; i < worker_count; ++i) sys(__NR_kill, long{workers[i].pid}, long{SIGKILL});
  kill_descendants();
  exit_now(0);
}

[[noreturn]] void serve(Service service) {
  if (sys(__NR_pipe2, &service.started[0], long{O_CLOEXEC | O_NONBLOCK}) < 0) exit_now(1);
  const std::uint64_t children = 1ULL << (SIGCHLD - 1);
  sys(__NR_rt_sigprocmask, long{SIG_SETMASK}, &children, 0L, 8L);
  const long child_events = sys(__NR_signalfd4, -1L, &children, 8L, long{O_CLOEXEC | O_NONBLOCK});
  const long owner = sys(__NR_pidfd_open, sys(__NR_getppid), 0L);
  if (child_events < 0 || owner < 0) exit_now(1);
  for (std::uint32_t i = 0; i < service.idle_workers; ++i) start_worker(service);
  struct pollfd watched[4] = {{service.control, 0, 0},
                              {static_cast<int>(owner), POLLIN, 0},
                              {service.started[0], POLLIN, 0},
                              {static_cast<int>(child_events), POLLIN, 0}};
  for (std::uint32_t missing = 0;;) {
    const long ready = sys(__NR_poll, watched, 4L, missing > 0 ? kQuietMilliseconds : -1L);
    if (ready < 0) continue;
    if (watched[1].revents != 0) end_everything();
    if (watched[2].revents != 0) missing += note_started(service);
    // Closed by an owner that lives on: idle workers leave by themselves, busy ones when their tree is dead.
    if (watched[0].revents != 0) watched[0].fd = -1;
    const bool closing = watched[0].fd < 0;
    const bool somebody_left = watched[3].revents != 0;
    if (somebody_left || closing) {
      char events[128];
      sys(__NR_read, child_events, events, 128L);
      const Reaped reaped = reap();
      if (closing && reaped.all_gone) exit_now(0);
      missing += reaped.idle_ones;
    }
    if (closing) missing = 0;
    // Building the next jail would slow down the run that has just begun, so it waits for that run's end or for a quiet
    // moment, unless somebody wants one now.
    if (ready > 0 && !somebody_left && any_idle() && !requests_wait(service.control)) continue;
    for (; missing > 0; --missing) start_worker(service);
  }
}

}  // namespace
}  // namespace sallyport::spawn::helper

namespace {

std::uint32_t take_number(const char*& text) {
  std::uint32_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + static_cast<std::uint32_t>(*text - '0');
  return number;
}

}  // namespace

// `stack` is what the kernel hands a new program: argc, then argv. With a number, that of a descriptor, we are the init
// inside a wrapper's jail; otherwise a letter says which of wire::HelperKind we are, and numbers follow.
extern "C" [[noreturn]] void helper_main(const long* stack) {
  namespace helper = sallyport::spawn::helper;
  namespace wire = sallyport::spawn::wire;
  if (stack[0] != 2) helper::exit_now(1);
  const char* argument = reinterpret_cast<const char*>(stack[2]);
  if (argument[0] >= '0' && argument[0] <= '9') helper::run_wrapped_init(static_cast<int>(take_number(argument)));
  const auto kind = static_cast<wire::HelperKind>(argument[0]);
  if (argument[0] != '\0') ++argument;
  const std::uint32_t number = take_number(argument);
  helper::sys(__NR_prctl, long{PR_SET_NAME}, "sallyport-spawn", 0L, 0L, 0L);
  if (kind == wire::HelperKind::kOneJail) {
    if (*argument++ != ',') helper::exit_now(1);
    helper::run_lone_init(wire::kControlFd, {number, take_number(argument)});
  }
  helper::default_signals();
  helper::sys(__NR_prctl, long{PR_SET_CHILD_SUBREAPER}, 1L, 0L, 0L, 0L);
  int shape_fd = helper::kNoShape;
  if (kind == wire::HelperKind::kJails) {
    shape_fd = helper::receive_shape(wire::kControlFd);
    if (shape_fd < 0) helper::exit_now(0);
  }
  helper::serve({wire::kControlFd, shape_fd, number, {-1, -1}});
}

// The compiler may call these for plain assignments even without a libc.
extern "C" void* memset(void* to, int value, std::size_t size) {
  auto* bytes = static_cast<volatile unsigned char*>(to);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(value);
  return to;
}
extern "C" void* memcpy(void* to, const void* from, std::size_t size) {
  auto* target = static_cast<volatile unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  for (std::size_t i = 0; i < size; ++i) target[i] = source[i];
  return to;
}
