// One worker serves one request for a tool without a jail, or for a wrapper, and exits. It is the subreaper of that
// tool. It takes the owner's commands; a closed channel means kill.
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/socket.h>

#include "spawn/freestanding/poll.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

alignas(16) char child_stack[64 * 1024];

// The owner's next command. A closed channel counts as the last one.
wire::Command next_command(int channel) {
  wire::Command command = wire::Command::kKill;
  const long size = sys(__NR_read, long{channel}, &command, 1L);
  return size == 1 ? command : wire::Command::kKill;
}

// Serves until `pidfd`'s process has exited. At a terminate command the wrapper itself is spared: it holds its jail
// together. `listener` is where a confined tool asks, or negative.
void serve_until_exit(const Run& run, int pidfd, int listener) {
  const int channel = run.fds[wire::kFdChannel];
  const bool wrapper = run.has(wire::kWrapper);
  struct pollfd watched[4] = {
      {pidfd, POLLIN, 0}, {channel, POLLIN, 0}, {listener, POLLIN, 0}, {run.handed_fd, POLLIN, 0}};
  for (;;) {
    const long ready = poll_until_ready(watched, 4);
    if (ready == -4) continue;  // EINTR
    if (ready < 0) {            // we could no longer stop the run
      signal_descendants(SIGKILL);
      return;
    }
    if ((watched[0].revents & POLLIN) != 0) return;
    if ((watched[2].revents & POLLIN) != 0) {
      answer_question(run, listener);
    } else if (watched[2].revents != 0) {
      watched[2].fd = -1;  // no process is left that could ask
    }
    if (watched[3].revents != 0 && !take_owners_answer(run, listener)) watched[3].fd = -1;
    if (watched[1].revents == 0) continue;
    const wire::Command command = next_command(channel);
    const bool finish = command == wire::Command::kFinish;
    if (command == wire::Command::kKill || (finish && !wrapper)) {
      signal_descendants(SIGKILL);
      if (!finish) watched[1].fd = -1;
    } else {
      // Our init inside the wrapper's jail takes SIGQUIT as it takes this command.
      signal_descendants(finish ? SIGQUIT : SIGTERM, wrapper ? Spare::kChildren : Spare::kNobody);
    }
  }
}

// A wrapper with egress runs in a network namespace of ours, below a user namespace of ours. So the user namespace that
// it makes for the tool has no rights over the network.
//
// A network that only reports refusals is optional: where only the wrapper may make namespaces, the wrapper's own
// network is equally closed.
bool own_network(Run& run, Failure& failure) {
  Steps steps(*run.image, failure);
  const std::uint32_t word_at = run.image->network_word_at;
  if (!make_network_namespace(steps)) {
    const bool is_wish = word_at != 0 && failure.stage == Stage::kClone;
    if (is_wish) failure = {};
    return is_wish;
  }
  if (!open_network(run, steps)) return false;
  hand_over_network(run);
  if (word_at != 0) {
    reinterpret_cast<char**>(run.at(run.image->argv_at))[word_at] = run.at(run.image->network_word);
  }
  return true;
}

// A wrapper binds the host's device nodes writable into its jail, and has no option against that. Here it binds the
// same nodes from read-only mounts, and a bind keeps them read-only.
bool guard_devices(Run& run, Failure& failure) {
  Steps steps(*run.image, failure);
  return make_mount_namespace(steps) && steps.ok(Stage::kBind, make_devices_read_only()) &&
         (!run.has(wire::kInRuntime) || steps.ok(Stage::kCgroup, make_cgroups_read_only()));
}

// Call before making anything: bwrap then runs as the repo's owner, as if the repo's owner had started it.
bool become_owner(const ChildPlace& place, const Run& run, Failure& failure) {
  Steps steps(*run.image, failure);
  return steps.ok(Stage::kUserMap, become_another_in_worker({run.image->as_uid, run.image->as_gid})) &&
         steps.ok(Stage::kParentAlive, die_with_parent(place.server_pidfd));
}

// The owner gets one end before the tool starts; the worker sends connections through the other.
bool open_handing(Run& run, Failure& failure) {
  Steps steps(*run.image, failure);
  int pair[2] = {-1, -1};
  const long kind = long{SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK};
  if (!steps.ok(Stage::kNetwork, sys(__NR_socketpair, long{AF_UNIX}, kind, 0L, pair))) return false;
  run.handed_fd = pair[0];
  wire::Report report = {};
  report.kind = wire::ReportKind::kNetwork;
  report.flags = wire::kHandsThemOver | (run.has(wire::kFramed) ? wire::kLoopbackOnly : 0U);
  send_report(run.fds[wire::kFdChannel], report, &pair[1], 1);
  sys(__NR_close, long{pair[1]});
  return true;
}

bool prepare_surroundings(const ChildPlace& place, Run& run, Failure& failure) {
  if (run.has(wire::kAsAnother) && !become_owner(place, run, failure)) return false;
  if (run.has(wire::kHandsConnections) && !open_handing(run, failure)) return false;
  // We tell an OCI runtime to make no network: without ours it would have the host's. gVisor commands its sandbox over
  // an abstract socket, to which every process in its network namespace could connect. An engine's client needs the
  // host's network; its container has none.
  const bool has_network =
      run.image->net_socket_count > 0 || (run.has(wire::kInRuntime | wire::kFramed) && !run.has(wire::kEngine));
  if (has_network && !own_network(run, failure)) return false;
  // A wrapper that carries frames shows no device nodes of the host.
  return !run.has(wire::kWrapper) || run.has(wire::kFramed) || guard_devices(run, failure);
}

// The tool's process sends the listener as its last step before exec, so it has arrived already. Negative when it has
// not.
int take_listener(int from) {
  char nothing = 0;
  int fds[wire::kMaxRequestFds] = {};
  std::uint32_t count = 0;
  receive_with_fds(from, &nothing, 1, fds, count, MSG_DONTWAIT);
  return count == 1 ? fds[0] : -1;
}

// Starts the tool, and gets ready to answer a confined one. `listener` is negative when the tool asks nothing.
long start_answered(ToolStart& start, Run& run, int& listener) {
  listener = -1;
  if (!run.confined()) return start_tool(start);
  int pair[2] = {-1, -1};
  const long paired = sys(__NR_socketpair, long{AF_UNIX}, long{SOCK_SEQPACKET | SOCK_CLOEXEC}, 0L, pair);
  if (paired < 0) {
    start.failure = {Stage::kSeccomp, static_cast<int>(-paired)};
    return paired;
  }
  run.answers_fd = pair[1];
  const long tool = start_tool(start);
  listener = tool < 0 ? -1 : take_listener(pair[0]);
  for (const int fd : pair) sys(__NR_close, long{fd});
  if (tool < 0) return tool;
  // We do what the tool asks with our rights, so they must not exceed the tool's.
  const long dropped = drop_capabilities();
  if (listener >= 0 && dropped >= 0) return tool;
  start.failure = {Stage::kSeccomp, dropped < 0 ? static_cast<int>(-dropped) : 5};  // EIO
  kill_descendants();
  return -start.failure.error;
}

[[noreturn]] void run_tool(const ChildPlace& place, Run& run) {
  const int channel = run.fds[wire::kFdChannel];
  Failure failure = {};
  // Do this while we are still dumpable: afterwards root owns our id maps in /proc.
  if (!prepare_surroundings(place, run, failure)) {
    send_report(channel, failure_report(failure), nullptr, 0);
    exit_now(0);
  }
  sys(__NR_prctl, long{PR_SET_DUMPABLE}, 0L, 0L, 0L, 0L);
  const long tree = run.has(wire::kWrapper) ? kNoTree : open_tree_pidfd(run);
  if (tree < 0 && tree != kNoTree) {
    send_report(channel, failure_report({Stage::kLimits, static_cast<int>(-tree)}), nullptr, 0);
    exit_now(0);
  }
  if (run.has(wire::kInRuntime)) run.own_pidfd = static_cast<int>(sys(__NR_pidfd_open, sys(__NR_getpid), 0L));
  const bool framed = run.has(wire::kFramed);
  Framing framing = {-1, -1, -1, -1, -1, -1};
  if (const long made = framed ? prepare_framing(run, framing) : 0; made < 0) {
    send_report(channel, failure_report({Stage::kStdio, static_cast<int>(-made)}), nullptr, 0);
    exit_now(0);
  }
  ToolStart start = {&run, {}, 0, 0, 0};
  int listener = -1;
  const long tool = start_answered(start, run, listener);
  if (tool < 0) {
    send_report(channel, failure_report(start.failure), nullptr, 0);
    exit_now(0);
  }
  // If the image cannot be sent, the wrapper is already gone and has said why.
  if (framed) send_framed_image(run, framing);
  close_all_but(run, channel);
  const bool wrapper = run.has(wire::kWrapper);
  if (!wrapper) report_started(run, start.applied, tree);
  const int pidfd = static_cast<int>(sys(__NR_pidfd_open, tool, 0L));
  if (pidfd < 0) signal_descendants(SIGKILL);  // we could not see it end; the wait below can
  if (pidfd >= 0 && framed) serve_frames_until_exit(run, framing, pidfd);
  if (pidfd >= 0 && !framed) serve_until_exit(run, pidfd, listener);
  int status = 0;
  sys(__NR_wait4, tool, &status, 0L, 0L);
  kill_descendants();
  send_report(channel, exit_report(status, wrapper ? wire::kWrapperExited : 0U), nullptr, 0);
  exit_now(0);
}

void make_ready(Run& run) {
  await_signals_only_when_asked();
  sys(__NR_prctl, long{PR_SET_CHILD_SUBREAPER}, 1L, 0L, 0L, 0L);
  run.scratch_fd = -1;
  run.control_fd = -1;
  run.handed_fd = -1;
  open_proc(run);
  run.child_stack_top = child_stack + sizeof child_stack;
}

Run the_run;  // a worker has one

}  // namespace

void run_worker(const ChildPlace& place) {
  // The server reaps us, counts failures, and refuses requests when too many children fail.
  const long tied = die_with_parent(place.server_pidfd);
  if (tied < 0) exit_now(static_cast<int>(-tied));
  Run& run = the_run;
  make_ready(run);
  const long size = receive_request(place.control, run, 0);
  if (size == 0) exit_now(0);                                                  // the owner is gone
  if (size != kRequestSize) exit_now(size < 0 ? static_cast<int>(-size) : 5);  // EIO
  send_handover(place, Handover::kTaken, nullptr, 0);
  sys(__NR_close, long{place.control});
  const long mapped = map_request(run);
  if (mapped < 0) {
    send_report(run.fds[wire::kFdChannel], failure_report({Stage::kReceive, static_cast<int>(-mapped)}), nullptr, 0);
    exit_now(0);
  }
  run_tool(place, run);
}

}  // namespace sallyport::spawn::helper
