// The jail's process 1: sets the jail up, starts the tool, reaps, passes SIGTERM on to everybody, reports the tool's
// fate and leaves; the kernel then kills whatever is left in the pid namespace.
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/poll.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

// PR_SET_PDEATHSIG does nothing when the parent is already gone, so look once after setting it.
long die_with_worker(int worker_pidfd) {
  const long armed = sys(__NR_prctl, long{PR_SET_PDEATHSIG}, long{SIGKILL}, 0L, 0L, 0L);
  if (armed < 0) return armed;
  struct pollfd worker = {worker_pidfd, POLLIN, 0};
  const long gone = sys(__NR_poll, &worker, 1L, 0L);
  return gone > 0 ? -3 : gone;  // ESRCH
}

[[noreturn]] void reap_until(long tool, int channel) {
  const std::uint64_t awaited = (1ULL << (SIGCHLD - 1)) | (1ULL << (SIGTERM - 1));
  for (;;) {
    int status = 0;
    long pid = 0;
    while ((pid = sys(__NR_wait4, -1L, &status, 1L /* WNOHANG */, 0L)) > 0) {
      if (pid != tool) continue;
      send_report(channel, exit_report(status, 0), nullptr, 0);
      exit_now(0);
    }
    if (sys(__NR_rt_sigtimedwait, &awaited, 0L, 0L, 8L) == SIGTERM) sys(__NR_kill, -1L, long{SIGTERM});
  }
}

[[noreturn]] void refuse(const Run& run, const Failure& failure) {
  send_report(run.fds[wire::kFdChannel], failure_report(failure), nullptr, 0);
  exit_now(0);
}

// From here on nobody in the jail may look into us: not through ptrace, not through /proc/1.
[[noreturn]] void start_and_reap(Run& run) {
  sys(__NR_prctl, long{PR_SET_DUMPABLE}, 0L, 0L, 0L, 0L);
  ToolStart start = {&run, {}, 0};
  const long tool = start_tool(start);
  if (tool < 0) refuse(run, start.failure);
  wire::Report started = {};
  started.kind = wire::ReportKind::kStarted;
  started.flags = start.applied;
  const int channel = run.fds[wire::kFdChannel];
  send_report(channel, started, &run.scratch_fd, run.scratch_fd >= 0 ? 1 : 0);
  for (std::uint32_t i = wire::kFdStdin; i < run.fd_count; ++i) sys(__NR_close, long{run.fds[i]});
  if (run.scratch_fd >= 0) sys(__NR_close, long{run.scratch_fd});
  reap_until(tool, channel);
}

void await_signals_only_when_asked() {
  const std::uint64_t handled = (1ULL << (SIGCHLD - 1)) | (1ULL << (SIGTERM - 1));
  sys(__NR_rt_sigprocmask, long{SIG_SETMASK}, &handled, 0L, 8L);
}

alignas(16) char wrapped_child_stack[64 * 1024];

}  // namespace

void run_init(Run& run) {
  Failure failure = {};
  Steps steps(*run.image, failure);
  const MadeAhead& made = run.made_ahead;
  const bool built = steps.ok(Stage::kParentAlive, die_with_worker(run.worker_pidfd)) &&
                     steps.ok(Stage::kUserMap, made.mapped) && steps.ok(Stage::kLoopback, made.loopback) &&
                     steps.ok(Stage::kHostname, made.hostname) && open_network(run, steps) && build_root(run, steps);
  if (!built) refuse(run, failure);
  start_and_reap(run);
}

// The wrapper's process 1, with its streams as the tool's, the image at `image_fd` and the channel right behind it.
void run_wrapped_init(int image_fd) {
  await_signals_only_when_asked();
  static Run run;
  for (std::uint32_t i = 0; i < 3; ++i) run.fds[wire::kFdStdin + i] = static_cast<int>(i);
  run.fd_count = wire::kFdCommonCount;
  run.fds[wire::kFdImage] = image_fd;
  run.fds[wire::kFdChannel] = image_fd + 1;
  run.child_stack_top = wrapped_child_stack + sizeof wrapped_child_stack;
  const long mapped = map_image(run, image_fd);
  if (mapped < 0) refuse(run, {Stage::kReceive, static_cast<int>(-mapped), 0});
  run.scratch_fd =
      static_cast<int>(sys(__NR_openat, long{AT_FDCWD}, "/tmp", long{O_RDONLY | O_DIRECTORY | O_CLOEXEC}, 0L));
  if (run.scratch_fd < 0) refuse(run, {Stage::kTmpfs, -run.scratch_fd, 0});
  Failure failure = {};
  Steps steps(*run.image, failure);
  if (!check_mounts(run, steps)) refuse(run, failure);
  start_and_reap(run);
}

}  // namespace sallyport::spawn::helper
