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

constexpr int kIdleWorkers = 2;
constexpr std::size_t kMaxWorkers = 65536;
int workers[kMaxWorkers];
std::size_t worker_count = 0;

void forget(long pid) {
  for (std::size_t i = 0; i < worker_count; ++i) {
    if (workers[i] != pid) continue;
    workers[i] = workers[--worker_count];
    return;
  }
}

// True when every worker is gone.
bool reap() {
  for (;;) {
    int status = 0;
    const long pid = sys(__NR_wait4, -1L, &status, 1L /* WNOHANG */, 0L);
    if (pid == -10) return true;  // ECHILD
    if (pid <= 0) return false;
    forget(pid);
  }
}

void start_worker(int control, int started_pipe, Work work) {
  if (worker_count == kMaxWorkers) return;
  const long server = sys(__NR_getpid);
  const long pid = sys(__NR_clone, long{SIGCHLD}, 0L, 0L, 0L, 0L);
  if (pid == 0) {
    sys(__NR_prctl, long{PR_SET_PDEATHSIG}, long{SIGKILL}, 0L, 0L, 0L);
    if (sys(__NR_getppid) != server) exit_now(0);
    run_worker(control, started_pipe, work);
  }
  if (pid > 0) workers[worker_count++] = static_cast<int>(pid);
}

// The owner is gone. Its sockets may live on in a process it forked, so do not wait for them to close: workers die now,
// jails with them; what an unjailed tool left behind falls to us, the next subreaper, and is killed too.
[[noreturn]] void end_everything() {
  for (std::size_t i = 0; i < worker_count; ++i) sys(__NR_kill, long{workers[i]}, long{SIGKILL});
  kill_descendants();
  exit_now(0);
}

[[noreturn]] void serve(int control, Work work) {
  int started[2] = {-1, -1};
  if (sys(__NR_pipe2, &started[0], long{O_CLOEXEC | O_NONBLOCK}) < 0) exit_now(1);
  const std::uint64_t children = 1ULL << (SIGCHLD - 1);
  sys(__NR_rt_sigprocmask, long{SIG_SETMASK}, &children, 0L, 8L);
  const long child_events = sys(__NR_signalfd4, -1L, &children, 8L, long{O_CLOEXEC | O_NONBLOCK});
  const long owner = sys(__NR_pidfd_open, sys(__NR_getppid), 0L);
  if (child_events < 0 || owner < 0) exit_now(1);
  for (int i = 0; i < kIdleWorkers; ++i) start_worker(control, started[1], work);
  struct pollfd watched[4] = {{control, 0, 0},
                              {static_cast<int>(owner), POLLIN, 0},
                              {started[0], POLLIN, 0},
                              {static_cast<int>(child_events), POLLIN, 0}};
  for (;;) {
    if (sys(__NR_poll, watched, 4L, -1L) < 0) continue;
    if (watched[1].revents != 0) end_everything();
    char buffer[128];
    if (watched[2].revents != 0) {
      const long taken = sys(__NR_read, long{started[0]}, buffer, 64L);
      for (long i = 0; i < taken; ++i) start_worker(control, started[1], work);
    }
    if (watched[3].revents != 0) {
      sys(__NR_read, child_events, buffer, 128L);
      const bool all_gone = reap();
      if (all_gone && watched[0].fd < 0) exit_now(0);
    }
    // Closed by an owner that lives on: idle workers leave by themselves, busy ones when their tree is dead.
    if (watched[0].revents != 0) {
      watched[0].fd = -1;
      if (reap()) exit_now(0);
    }
  }
}

}  // namespace
}  // namespace sallyport::spawn::helper

// `stack` is what the kernel hands a new program: argc, then argv. With an argument, the number of a descriptor, we are
// the init inside a wrapper's jail; otherwise a letter says which of wire::HelperKind we are.
extern "C" [[noreturn]] void helper_main(const long* stack) {
  namespace helper = sallyport::spawn::helper;
  namespace wire = sallyport::spawn::wire;
  if (stack[0] != 2) helper::exit_now(1);
  const char* const argument = reinterpret_cast<const char*>(stack[2]);
  if (argument[0] >= '0' && argument[0] <= '9') {
    int image_fd = 0;
    for (const char* digit = argument; *digit != '\0'; ++digit) {
      image_fd = image_fd * 10 + (*digit - '0');
    }
    helper::run_wrapped_init(image_fd);
  }
  helper::sys(__NR_close, long{wire::kImageFd});
  helper::sys(__NR_prctl, long{PR_SET_NAME}, "sallyport-spawn", 0L, 0L, 0L);
  const auto kind = static_cast<wire::HelperKind>(argument[0]);
  if (kind == wire::HelperKind::kOneJail) helper::run_only_worker(wire::kControlFd);
  helper::sys(__NR_prctl, long{PR_SET_CHILD_SUBREAPER}, 1L, 0L, 0L, 0L);
  helper::serve(wire::kControlFd, kind == wire::HelperKind::kJails ? helper::Work::kJails : helper::Work::kAny);
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
