// One worker serves one request and leaves. It is the subreaper of an unjailed tool, or the parent of a jail's init; it
// takes the owner's commands, and the owner's silence (a closed channel) means: kill.
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/poll.h>
#include <sys/socket.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

alignas(16) char child_stack[64 * 1024];

// The server starts another in our place.
void tell_started(int started_pipe) {
  const auto pid = static_cast<int>(sys(__NR_getpid));
  sys(__NR_write, long{started_pipe}, &pid, long{sizeof pid});
}

void close_all_but(const Run& run, int keep) {
  for (std::uint32_t i = 0; i < run.fd_count; ++i) {
    if (run.fds[i] != keep) sys(__NR_close, long{run.fds[i]});
  }
}

// What the owner wants now. A closed channel is the last command there is.
wire::Command next_command(int channel) {
  wire::Command command = wire::Command::kKill;
  const long size = sys(__NR_read, long{channel}, &command, 1L);
  return size == 1 ? command : wire::Command::kKill;
}

// Serves commands until `pidfd`'s process has exited. `on_command` gets each one, once.
template <class OnCommand>
void serve_until_exit(int channel, int pidfd, OnCommand on_command) {
  struct pollfd watched[2] = {{pidfd, POLLIN, 0}, {channel, POLLIN, 0}};
  for (;;) {
    if (sys(__NR_poll, watched, 2L, -1L) < 0) continue;
    if ((watched[0].revents & POLLIN) != 0) return;
    if (watched[1].revents == 0) continue;
    const wire::Command command = next_command(channel);
    on_command(command);
    if (command == wire::Command::kKill) watched[1].fd = -1;
  }
}

// Only for speed: without the descriptor everything works, a little later.
void hold_mount_namespace(long pid) {
  char path[32] = "/proc/";
  char* end = append_number(path + 6, static_cast<std::uint32_t>(pid));
  for (const char* suffix = "/ns/mnt"; *suffix != '\0';) *end++ = *suffix++;
  *end = '\0';
  sys(__NR_openat, long{AT_FDCWD}, path, long{O_RDONLY | O_CLOEXEC}, 0L);
}

// A wrapper with egress runs in a network namespace of ours, below a user namespace of ours: the one it makes for the
// tool owns nothing of the network.
bool own_network(Run& run, Failure& failure) {
  Steps steps(*run.image, failure);
  if (!make_network_namespace(steps) || !open_network(run, steps)) return false;
  hand_over_network(run);
  return true;
}

[[noreturn]] void run_bare(Run& run) {
  const int channel = run.fds[wire::kFdChannel];
  Failure failure = {};
  // Before we are not dumpable any more: the kernel then gives our own id maps to root.
  if (run.image->net_socket_count > 0 && !own_network(run, failure)) {
    send_report(channel, failure_report(failure), nullptr, 0);
    exit_now(0);
  }
  sys(__NR_prctl, long{PR_SET_DUMPABLE}, 0L, 0L, 0L, 0L);
  ToolStart start = {&run, {}, 0};
  const long tool = start_tool(start);
  if (tool < 0) {
    send_report(channel, failure_report(start.failure), nullptr, 0);
    exit_now(0);
  }
  close_all_but(run, channel);
  const bool wrapper = run.has(wire::kWrapper);
  if (!wrapper) {
    wire::Report started = {};
    started.kind = wire::ReportKind::kStarted;
    send_report(channel, started, nullptr, 0);
  }
  const int pidfd = static_cast<int>(sys(__NR_pidfd_open, tool, 0L));
  serve_until_exit(channel, pidfd, [wrapper](wire::Command command) {
    if (command == wire::Command::kKill) {
      signal_descendants(SIGKILL);
    } else {
      signal_descendants(SIGTERM, wrapper ? Spare::kChildren : Spare::kNobody);
    }
  });
  int status = 0;
  sys(__NR_wait4, tool, &status, 0L, 0L);
  kill_descendants();
  send_report(channel, exit_report(status, wrapper ? wire::kWrapperExited : 0U), nullptr, 0);
  exit_now(0);
}

struct Init {
  long pid;  // 0 in init itself, or a negative errno
  int pidfd;
};

int open_mount_table() {
  return static_cast<int>(sys(__NR_openat, long{AT_FDCWD}, "/proc/self/mountinfo", long{O_RDONLY | O_CLOEXEC}, 0L));
}

Init clone_init(Run& run) {
  run.worker_pidfd = static_cast<int>(sys(__NR_pidfd_open, sys(__NR_getpid), 0L));
  // From before the copy, so that no change is missed.
  run.mounts_fd = open_mount_table();
  run.mounts_alarm_fd = open_mount_table();
  Init init = {run.image->fault_at == Stage::kClone ? -5 : run.made_ahead.unshared, -1};  // EIO
  if (init.pid < 0) return init;
  struct clone_args how = {};
  how.flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_PIDFD;
  how.pidfd = reinterpret_cast<std::uint64_t>(&init.pidfd);
  how.exit_signal = SIGCHLD;
  init.pid = sys(__NR_clone3, &how, long{sizeof how});
  return init;
}

// Taking a mount namespace apart costs the kernel milliseconds and is done by whoever drops it last. Held here, that is
// us, after the owner has been told that everything is dead, and not init, which the owner waits for.
[[noreturn]] void mind_init(const Init& init, int channel) {
  serve_until_exit(channel, init.pidfd, [&init](wire::Command command) {
    const long signal_number = command == wire::Command::kTerminate ? SIGTERM : SIGKILL;
    sys(__NR_pidfd_send_signal, long{init.pidfd}, signal_number, 0L, 0L);
  });
  int status = 0;
  sys(__NR_wait4, init.pid, &status, 0L, 0L);
  // Init leaves with 0 once it has told the owner everything; any other end is for us to tell.
  if (status != 0) send_report(channel, exit_report(status, wire::kInitDied), nullptr, 0);
  sys(__NR_close, long{channel});
  sys(__NR_sched_yield);  // the owner goes first: what is left to us, taking namespaces apart, takes its time
  exit_now(0);
}

[[noreturn]] void tell_not_built(int channel, long error) {
  wire::Report report = failure_report({Stage::kClone, static_cast<int>(-error), 0});
  report.flags = wire::kNotBuilt;
  send_report(channel, report, nullptr, 0);
  exit_now(0);
}

// The jail that was waiting is not for this request; one that sees the host as it is now is built from the start.
[[noreturn]] void build_at_once(Run& run) {
  const Init init = clone_init(run);
  if (init.pid == 0) run_init_at_once(run);
  const int channel = run.fds[wire::kFdChannel];
  if (init.pid < 0) tell_not_built(channel, init.pid);
  close_all_but(run, channel);
  hold_mount_namespace(init.pid);
  mind_init(init, channel);
}

[[noreturn]] void run_jailed(Run& run, int control, int started_pipe, int shape_fd) {
  int handover[2] = {-1, -1};
  long ready = map_image(run, shape_fd);
  sys(__NR_close, long{shape_fd});
  if (ready >= 0) ready = sys(__NR_socketpair, long{AF_UNIX}, long{SOCK_SEQPACKET | SOCK_CLOEXEC}, 0L, &handover[0]);
  const Init init = ready < 0 ? Init{ready, -1} : clone_init(run);
  if (init.pid == 0) run_init(run, control, handover[1]);
  if (init.pid < 0) {
    // Whoever asks next must hear of it rather than wait for nobody.
    if (receive_request(control, run, 0) != kRequestSize) exit_now(0);
    tell_started(started_pipe);
    tell_not_built(run.fds[wire::kFdChannel], init.pid);
  }
  sys(__NR_close, long{control});
  sys(__NR_close, long{handover[1]});
  hold_mount_namespace(init.pid);
  const char what = receive_fds(handover[0], run.fds, run.fd_count);
  if (what == '\0') exit_now(0);  // no request will come, or init was stale or killed; the server starts another of us
  tell_started(started_pipe);
  if (what == static_cast<char>(Handover::kTaken)) mind_init(init, run.fds[wire::kFdChannel]);
  build_at_once(run);
}

void make_ready(Run& run) {
  await_signals_only_when_asked();
  sys(__NR_prctl, long{PR_SET_CHILD_SUBREAPER}, 1L, 0L, 0L, 0L);
  run.scratch_fd = -1;
  run.control_fd = -1;
  open_proc(run);
  run.child_stack_top = child_stack + sizeof child_stack;
}

Run the_run;  // a worker has one

}  // namespace

void default_signals() {
  struct {
    std::uint64_t handler, flags, restorer, mask;
  } const by_default = {};
  // The kernel refuses SIGKILL and SIGSTOP, and what it refuses is as it must be.
  for (long signal_number = 1; signal_number <= 64; ++signal_number) {
    sys(__NR_rt_sigaction, signal_number, &by_default, 0L, 8L);
  }
}

void run_worker(int control, int started_pipe, int shape_fd) {
  Run& run = the_run;
  make_ready(run);
  if (shape_fd != kNoShape) {
    run.made_ahead = make_ahead();
    run_jailed(run, control, started_pipe, shape_fd);
  }
  if (receive_request(control, run, 0) != kRequestSize) exit_now(0);
  tell_started(started_pipe);
  sys(__NR_close, long{control});
  const long mapped = map_image(run, run.fds[wire::kFdImage]);
  if (mapped < 0) {
    send_report(run.fds[wire::kFdChannel], failure_report({Stage::kReceive, static_cast<int>(-mapped), 0}), nullptr, 0);
    exit_now(0);
  }
  run_bare(run);
}

}  // namespace sallyport::spawn::helper
