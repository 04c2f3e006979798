// What the jail's init does while the tool runs: reaps, passes SIGTERM on to every process, kills every process at
// SIGQUIT, and reports the tool's fate once nothing else is alive in the pid namespace.
#include <signal.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

constexpr std::uint64_t kHandledSignals = (1ULL << (SIGCHLD - 1)) | (1ULL << (SIGTERM - 1)) | (1ULL << (SIGQUIT - 1));

// In a jail of our own this report says that nothing else is alive. The owner need not wait for our own exit, at which
// the kernel tears down the namespaces. In a wrapper's jail the wrapper is still alive.
wire::Report last_report(const Run& run, int status) {
  end_the_rest();
  const std::uint32_t nobody_left = wire::kNobodyLeft;
  return exit_report(status, run.has(wire::kWrapped) ? 0U : nobody_left);
}

// An owner that is about to exit does so faster when the kernel does not tear down a jail at the same time.
void await_end_of(int control) {
  char none = 0;
  sys(__NR_read, long{control}, &none, 1L);
}

}  // namespace

// Kills what the tool left behind. One signal to all is enough, since kill(2) and fork(2) exclude each other; and when
// we have no child we are alone, since an orphan would be our child.
void end_the_rest() {
  constexpr long kNow = 1;                 // WNOHANG
  constexpr long kOfAnyKind = 0x40000000;  // __WALL
  for (;;) {
    const long reaped = sys(__NR_wait4, -1L, 0L, kNow | kOfAnyKind, 0L);
    if (reaped == -10) return;  // ECHILD
    if (reaped != 0) continue;
    sys(__NR_kill, -1L, long{SIGKILL});
    sys(__NR_wait4, -1L, 0L, kOfAnyKind, 0L);
  }
}

void reap_until_end(const Run& run, long tool) {
  const std::uint64_t awaited = kHandledSignals;
  for (;;) {
    int status = 0;
    long pid = 0;
    while ((pid = sys(__NR_wait4, -1L, &status, 1L /* WNOHANG */, 0L)) > 0) {
      if (pid != tool) continue;
      send_report(run.fds[wire::kFdChannel], last_report(run, status), nullptr, 0);
      if (run.control_fd >= 0) await_end_of(run.control_fd);
      exit_now(0);
    }
    const long signal = sys(__NR_rt_sigtimedwait, &awaited, 0L, 0L, 8L);
    if (signal == SIGTERM) sys(__NR_kill, -1L, long{SIGTERM});
    if (signal == SIGQUIT) sys(__NR_kill, -1L, long{SIGKILL});
  }
}

void await_signals_only_when_asked() {
  const std::uint64_t handled = kHandledSignals;
  sys(__NR_rt_sigprocmask, long{SIG_SETMASK}, &handled, 0L, 8L);
}

}  // namespace sallyport::spawn::helper
