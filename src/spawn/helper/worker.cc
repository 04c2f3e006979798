// One worker serves one request and leaves. It is the subreaper of an unjailed tool, or the parent of a jail's init; it
// takes the owner's commands, and the owner's silence (a closed channel) means: kill.
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/poll.h>
#include <sys/socket.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

alignas(16) char child_stack[64 * 1024];

// Waits for a request; false when the owner is gone.
bool receive(int control, Run& run) {
  wire::Request request = {};
  struct iovec part = {&request, sizeof request};
  alignas(cmsghdr) char passed[CMSG_SPACE(sizeof(int) * wire::kMaxRequestFds)];
  struct msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = passed;
  message.msg_controllen = sizeof passed;
  const long size = sys(__NR_recvmsg, long{control}, &message, long{MSG_CMSG_CLOEXEC});
  if (size != sizeof request || request.magic != wire::kMagic) return false;
  const auto* header = reinterpret_cast<const cmsghdr*>(passed);
  if (message.msg_controllen < sizeof(cmsghdr) || header->cmsg_type != SCM_RIGHTS) return false;
  const auto* fds = reinterpret_cast<const int*>(CMSG_DATA(header));
  run.fd_count = static_cast<std::uint32_t>((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  for (std::uint32_t i = 0; i < run.fd_count; ++i) run.fds[i] = fds[i];
  return run.fd_count == request.fd_count && run.fd_count >= wire::kFdCommonCount;
}

void relocate(Run& run, std::uint32_t at, std::uint32_t count) {
  auto* slots = reinterpret_cast<std::uint64_t*>(run.at(at));
  for (std::uint32_t i = 0; i < count; ++i) slots[i] += reinterpret_cast<std::uint64_t>(run.image);
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
bool own_network(const Run& run, Failure& failure) {
  Steps steps(*run.image, failure);
  return make_network_namespace(steps) && open_network(run, steps);
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

[[noreturn]] void run_jailed(Run& run) {
  run.worker_pidfd = static_cast<int>(sys(__NR_pidfd_open, sys(__NR_getpid), 0L));
  int init_pidfd = -1;
  struct clone_args how = {};
  how.flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_PIDFD;
  how.pidfd = reinterpret_cast<std::uint64_t>(&init_pidfd);
  how.exit_signal = SIGCHLD;
  long init = run.image->fault_at == Stage::kClone ? -5 : run.made_ahead.unshared;
  if (init >= 0) init = sys(__NR_clone3, &how, long{sizeof how});
  if (init == 0) run_init(run);
  const int channel = run.fds[wire::kFdChannel];
  if (init < 0) {
    send_report(channel, failure_report({Stage::kClone, static_cast<int>(-init), 0}), nullptr, 0);
    exit_now(0);
  }
  close_all_but(run, channel);
  // Taking a mount namespace apart costs the kernel milliseconds and is done by whoever drops it last. Held here, that is
  // us, after the owner has been told that everything is dead, and not init, which the owner waits for.
  hold_mount_namespace(init);
  serve_until_exit(channel, init_pidfd, [init_pidfd](wire::Command command) {
    const long signal_number = command == wire::Command::kTerminate ? SIGTERM : SIGKILL;
    sys(__NR_pidfd_send_signal, long{init_pidfd}, signal_number, 0L, 0L);
  });
  int status = 0;
  sys(__NR_wait4, init, &status, 0L, 0L);
  // Init leaves with 0 once it has told the owner everything; any other end is for us to tell.
  if (status != 0) send_report(channel, exit_report(status, wire::kInitDied), nullptr, 0);
  sys(__NR_close, long{channel});
  exit_now(0);
}

}  // namespace

long map_image(Run& run, int fd) {
  const long size = sys(__NR_lseek, long{fd}, 0L, 2L /* SEEK_END */);
  if (size < static_cast<long>(sizeof(wire::Image))) return -22;  // EINVAL
  const long address = sys(__NR_mmap, 0L, size, long{PROT_READ | PROT_WRITE}, long{MAP_PRIVATE}, long{fd}, 0L);
  if (address < 0 && address > -4096) return address;
  run.image = reinterpret_cast<wire::Image*>(address);
  if (run.image->magic != wire::kMagic || run.image->size != static_cast<std::uint64_t>(size)) return -22;
  relocate(run, run.image->argv_at, run.image->argv_count);
  relocate(run, run.image->env_at, run.image->env_count);
  return 0;
}

void run_worker(int control, int started_pipe, Work work) {
  const std::uint64_t handled = (1ULL << (SIGCHLD - 1)) | (1ULL << (SIGTERM - 1));
  sys(__NR_rt_sigprocmask, long{SIG_SETMASK}, &handled, 0L, 8L);
  sys(__NR_prctl, long{PR_SET_CHILD_SUBREAPER}, 1L, 0L, 0L, 0L);
  static Run run;
  run.scratch_fd = -1;
  run.child_stack_top = child_stack + sizeof child_stack;
  if (work == Work::kJails) run.made_ahead = make_ahead();
  if (!receive(control, run)) exit_now(0);
  if (started_pipe >= 0) sys(__NR_write, long{started_pipe}, "", 1L);
  sys(__NR_close, long{control});
  const long mapped = map_image(run, run.fds[wire::kFdImage]);
  if (mapped < 0) {
    send_report(run.fds[wire::kFdChannel], failure_report({Stage::kReceive, static_cast<int>(-mapped), 0}), nullptr, 0);
    exit_now(0);
  }
  if (run.jailed()) run_jailed(run);
  run_bare(run);
}

void run_only_worker(int control) {
  sys(__NR_prctl, long{PR_SET_PDEATHSIG}, long{SIGKILL}, 0L, 0L, 0L);
  // Already dead, it closed its end of the channel too: the run is killed as soon as it looks.
  run_worker(control, -1, Work::kJails);
}

}  // namespace sallyport::spawn::helper
