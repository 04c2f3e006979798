// The jail's process 1: sets the jail up, as far as it can before there is a request, takes the request, starts the tool,
// and goes on as its reaper (reap.cc).
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <signal.h>
#include <sys/socket.h>

#include "spawn/freestanding/poll.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

// Builds what the shape in `run.image` says.
bool build_ahead(Run& run, Failure& failure) {
  Steps steps(*run.image, failure);
  const MadeAhead& made = run.made_ahead;
  return steps.ok(Stage::kParentAlive, made.tied_to_parent) && steps.ok(Stage::kClone, made.unshared) &&
         steps.ok(Stage::kUserMap, made.mapped) && steps.ok(Stage::kLoopback, made.loopback) &&
         steps.ok(Stage::kHostname, made.hostname) && steps.ok(Stage::kCapabilities, made.bounding_set) &&
         steps.ok(Stage::kPrivateMounts, made.private_mounts) && steps.ok(Stage::kNewRoot, made.new_root) &&
         open_network(run, steps) && add_to_root(run, steps) && (!run.has(wire::kWholeJail) || enter_root(steps)) &&
         (!run.has(wire::kSealedJail) || seal(run, steps));
}

// The kernel forgets the death signal at every change of ids.
long tie_again(const InitStart& start, const Run& run) {
  return run.as_another ? die_with_parent(start.child->server_pidfd) : 0;
}

// Builds what the request in `run.image` wants beyond the shape.
bool build_the_rest(const InitStart& start, Run& run, Failure& failure) {
  Steps steps(*run.image, failure);
  if (!open_network(run, steps)) return false;
  hand_over_network(run);
  sys(__NR_close, long{run.proc_fd});
  if (!run.has(wire::kWholeJail) && !(add_to_root(run, steps) && enter_root(steps))) return false;
  return !run.as_another ||
         (steps.ok(Stage::kUserMap, become_another()) && steps.ok(Stage::kParentAlive, tie_again(start, run)));
}

[[noreturn]] void start_and_reap(Run& run) { reap_until_end(run, start_confined(run)); }

alignas(16) char tool_stack[64 * 1024];

[[noreturn]] void serve_request(const InitStart& start, Run& run, bool built, const Failure& failure) {
  if (!built) refuse(run, failure, wire::kNotBuilt);
  const long mapped = map_request(run);
  if (mapped < 0) refuse(run, {Stage::kReceive, static_cast<int>(-mapped)});
  Failure last = {};
  if (!build_the_rest(start, run, last)) refuse(run, last);
  start_and_reap(run);
}

// The exit code of an init that leaves because the mounts have changed (0), or because it cannot determine whether they have
// (the errno that says why).
int why_unknown(int mounts_fd) { return mounts_fd < 0 ? -mounts_fd : 0; }

// If we cannot determine it, we count the mounts as changed.
bool mounts_changed(int mounts_fd) {
  struct pollfd mounts = {mounts_fd, POLLPRI, 0};
  return mounts_fd < 0 || poll_now(&mounts, 1) != 0;
}

// Sleeps until there is a request, and takes it. A waiting jail that has become stale exits: it would keep file systems
// busy that the host has unmounted. Each request wakes one of the waiting inits.
void await_request(int control, Run& run) {
  const long epoll = sys(__NR_epoll_create1, long{EPOLL_CLOEXEC});
  struct epoll_event request = {EPOLLIN | EPOLLEXCLUSIVE, {.fd = control}};
  struct epoll_event alarm = {EPOLLPRI, {.fd = run.mounts_alarm_fd}};
  sys(__NR_epoll_ctl, epoll, long{EPOLL_CTL_ADD}, long{run.mounts_alarm_fd}, &alarm);
  const long added = sys(__NR_epoll_ctl, epoll, long{EPOLL_CTL_ADD}, long{control}, &request);
  if (epoll < 0 || added < 0) exit_now(static_cast<int>(epoll < 0 ? -epoll : -added));
  for (;;) {
    struct epoll_event events[2];
    const long count = epoll_until(epoll, events, 2, kNoTimeLimit);
    for (long i = 0; i < count; ++i) {
      if (events[i].data.fd == run.mounts_alarm_fd) exit_now(0);
    }
    const long size = receive_request(control, run, MSG_DONTWAIT);
    if (size == kRequestSize) break;
    if (size == 0) exit_now(0);                                                       // the owner is gone
    if (size != -11 && size != -4) exit_now(size < 0 ? static_cast<int>(-size) : 5);  // not EAGAIN, not EINTR; else EIO
  }
  sys(__NR_close, epoll);
}

int open_mount_table() {
  return static_cast<int>(sys(__NR_openat, long{AT_FDCWD}, "/proc/self/mountinfo", long{O_RDONLY | O_CLOEXEC}, 0L));
}

// The other end of a socket is closed. An unread message from before does not hide that.
bool peer_is_gone(int socket) {
  struct pollfd peer = {socket, 0, 0};
  return poll_now(&peer, 1) != 0;
}

Run the_run;  // an init has one

// What every jail needs, whatever its shape. A server's child makes its mount namespace itself, after it has opened the
// files that show changes of the host's mounts, so that it misses none.
void prepare_namespaces(Run& run, const InitStart& start) {
  const ChildPlace* const child = start.child;
  MadeAhead& made = run.made_ahead;
  // From a new pid namespace we cannot see an owner that is our parent. If the owner died before this call, it has
  // closed its end of the control socket by now; take_request() checks that.
  made.tied_to_parent = die_with_parent(child != nullptr ? child->server_pidfd : kNoPidfd);
  if (child != nullptr && made.tied_to_parent < 0) exit_now(static_cast<int>(-made.tied_to_parent));
  run.as_another = start.as_another;
  open_proc(run);
  if (child != nullptr) {
    run.mounts_fd = open_mount_table();
    run.mounts_alarm_fd = open_mount_table();
  }
  make_namespaces(child != nullptr ? CLONE_NEWNS : 0, run.as_another ? nullptr : &start.outside, made);
  if (made.unshared < 0) return;
  made.bounding_set = empty_bounding_set();
  stage_root(made);
}

// The owner finds out what the shape is while we make namespaces.
long take_shape(const InitStart& start, Run& run) {
  if (start.shape != nullptr) {
    run.image = start.shape;
    return 0;
  }
  default_signals();
  const int shape_fd = receive_shape(start.control);
  if (shape_fd < 0) exit_now(0);
  return map_image(run, shape_fd);
}

// Takes the request from an owner that is our parent.
void take_request_of_parent(int control, Run& run) {
  if (receive_request(control, run, 0) != kRequestSize || peer_is_gone(control)) exit_now(0);
  run.control_fd = control;
}

// Takes the request as one of several waiting children of a server.
void take_request_of_server(const ChildPlace& child, Run& run) {
  if (mounts_changed(run.mounts_fd)) exit_now(why_unknown(run.mounts_fd));  // stale; the server starts another
  await_request(child.control, run);
  sys(__NR_close, long{child.control});
  if (mounts_changed(run.mounts_fd)) {
    send_handover(child, Handover::kStale, run.fds, run.fd_count);
    exit_now(0);
  }
  send_handover(child, Handover::kTaken, &run.fds[wire::kFdChannel], 1);
}

void take_request(const InitStart& start, Run& run) {
  if (start.request != nullptr) {
    for (std::uint32_t i = 0; i < start.request->fd_count; ++i) run.fds[i] = start.request->fds[i];
    run.fd_count = start.request->fd_count;
  } else if (start.child != nullptr) {
    take_request_of_server(*start.child, run);
  } else {
    take_request_of_parent(start.control, run);
  }
}

bool is_null_device(long fd) {
  constexpr std::uint32_t kMemoryDevices = 1;
  constexpr std::uint32_t kNull = 3;
  struct statx about = {};
  if (sys(__NR_statx, fd, "", long{AT_EMPTY_PATH}, long{STATX_TYPE}, &about) < 0) return false;
  return (about.stx_mode & S_IFMT) == S_IFCHR && about.stx_rdev_major == kMemoryDevices &&
         about.stx_rdev_minor == kNull;
}

// The tool's streams are the wrapper's. An OCI runtime has pipes of its own there; it passed ours on, and cgroups to join.
void take_streams(Run& run, int image_fd) {
  const bool in_runtime = run.has(wire::kInRuntime);
  const int first = in_runtime ? wire::kFirstRuntimeFd : 0;
  for (int i = 0; i < 3; ++i) run.fds[wire::kFdStdin + i] = first + i;
  run.fd_count = wire::kFdCommonCount;
  for (int fd = first + 3; in_runtime && fd < image_fd; ++fd) run.fds[run.fd_count++] = fd;
  if (is_null_device(run.fds[wire::kFdStdin]))
    run.image->flags |= wire::kNullStdin;  // the wrapper passed the host's on
}

// If the runtime's worker is killed, we die: the runtime dies with its worker, and we die with the runtime.
bool enter_own_user_namespace(int image_fd, Steps& steps) {
  const int worker = image_fd + 2;
  const int proc = image_fd + 3;
  const bool entered = steps.ok(Stage::kUserMap, make_user_namespace(proc)) &&
                       steps.ok(Stage::kCapabilities, empty_bounding_set()) &&
                       steps.ok(Stage::kParentAlive, die_with_parent(worker));
  sys(__NR_close, long{worker});
  sys(__NR_close, long{proc});
  return entered;
}

// Process 1 of the wrapper's jail. The wrapper has made namespaces, root and network already.
[[noreturn]] void serve_inside_wrapper(Run& run, int image_fd) {
  run.fds[wire::kFdImage] = image_fd;
  run.fds[wire::kFdChannel] = image_fd + 1;
  const long mapped = map_image(run, image_fd);
  if (mapped < 0) refuse(run, {Stage::kReceive, static_cast<int>(-mapped)});
  take_streams(run, image_fd);
  if (run.fd_count != wire::kFdCommonCount + run.image->cgroup_count) refuse(run, {Stage::kReceive, 22});  // EINVAL
  run.scratch_fd =
      static_cast<int>(sys(__NR_openat, long{AT_FDCWD}, "/tmp", long{O_RDONLY | O_DIRECTORY | O_CLOEXEC}, 0L));
  if (run.scratch_fd < 0) refuse(run, {Stage::kTmpfs, -run.scratch_fd});
  Failure failure = {};
  Steps steps(*run.image, failure);
  if (!finish_wrappers_root(run, steps)) refuse(run, failure);
  if (run.in_own_user_namespace() && !enter_own_user_namespace(image_fd, steps)) refuse(run, failure);
  start_and_reap(run);
}

// Process 1 where no descriptor can be passed: in a wrapper's jail, whose root the wrapper has built, or in a machine,
// where we build the root.
[[noreturn]] void serve_by_frames(Run& run, bool in_guest) {
  if (in_guest) open_guests_port();
  const long mapped = open_framed_run(run);
  if (mapped < 0) refuse(run, {Stage::kReceive, static_cast<int>(-mapped)});
  Failure failure = {};
  Steps steps(*run.image, failure);
  if (!(in_guest ? build_in_guest(run, steps) : finish_wrappers_root(run, steps))) refuse(run, failure);
  start_and_serve_frames(run);
}

// In a jail that this init makes itself.
[[noreturn]] void serve_in_own_jail(Run& run, const InitStart& start) {
  prepare_namespaces(run, start);
  const long mapped = take_shape(start, run);
  Failure failure = {Stage::kReceive, static_cast<int>(-mapped)};
  // A jail that could not be built waits too, so that the next request gets a failure rather than no answer.
  const bool built = mapped >= 0 && build_ahead(run, failure);
  if (const long tied = tie_again(start, run); tied < 0) exit_now(static_cast<int>(-tied));
  take_request(start, run);
  serve_request(start, run, built, failure);
}

}  // namespace

long empty_bounding_set() {
  // A kernel newer than our headers may know more capabilities; it answers EINVAL past its last one.
  for (long capability = 0; capability < 64; ++capability) {
    const long dropped = sys(__NR_prctl, long{PR_CAPBSET_DROP}, capability, 0L, 0L, 0L);
    if (dropped == -22) break;
    if (dropped < 0) return dropped;
  }
  return 0;
}

void refuse(const Run& run, const Failure& failure, std::uint32_t flags) {
  wire::Report report = failure_report(failure);
  report.flags = flags;
  send_report(run.fds[wire::kFdChannel], report, nullptr, 0);
  linger_in_guest(run);
  exit_now(0);
}

// From here on no process in the jail can inspect us, neither through ptrace nor through /proc/1. And we can do no more
// than the tool: an attacker who took us over would gain nothing.
long start_confined(Run& run) {
  sys(__NR_prctl, long{PR_SET_DUMPABLE}, 0L, 0L, 0L, 0L);
  if (!run.has(wire::kSealedJail) && run.image->cgroup_count == 0) {
    Failure failure = {};
    Steps steps(*run.image, failure);
    if (!seal(run, steps)) refuse(run, failure);
  }
  const long tree = open_tree_pidfd(run);
  if (tree < 0 && tree != kNoTree) refuse(run, {Stage::kLimits, static_cast<int>(-tree)});
  ToolStart start = {&run, {}, 0, 0, 0};
  const long tool = start_tool(start);
  if (tool < 0) refuse(run, start.failure);
  report_started(run, start.applied, tree);
  for (std::uint32_t i = wire::kFdStdin; i < run.fd_count; ++i) sys(__NR_close, long{run.fds[i]});
  return tool;
}

void open_proc(Run& run) {
  run.proc_fd = static_cast<int>(sys(__NR_openat, long{AT_FDCWD}, "/proc", long{O_PATH | O_DIRECTORY | O_CLOEXEC}, 0L));
}

void run_init(const InitStart& start) {
  await_signals_only_when_asked();
  Run& run = the_run;
  run.scratch_fd = -1;
  run.control_fd = -1;
  run.child_stack_top = tool_stack + sizeof tool_stack;
  switch (start.kind) {
    case wire::HelperKind::kWrapped:
      serve_inside_wrapper(run, start.wrapped_image_fd);
    case wire::HelperKind::kFramed:
    case wire::HelperKind::kGuest:
      serve_by_frames(run, start.kind == wire::HelperKind::kGuest);
    case wire::HelperKind::kOneRun:
    case wire::HelperKind::kInits:
      serve_in_own_jail(run, start);
    case wire::HelperKind::kWorkers:
      break;  // no jail, so no init
  }
  exit_now(1);
}

}  // namespace sallyport::spawn::helper
