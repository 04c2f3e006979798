// The jail's process 1: sets the jail up, starts the tool, reaps, passes SIGTERM on to everybody, kills everybody at SIGQUIT,
// reports the tool's fate once nothing else is alive in the pid namespace, and leaves.
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/poll.h>
#include <sys/socket.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

constexpr std::uint64_t kHandledSignals = (1ULL << (SIGCHLD - 1)) | (1ULL << (SIGTERM - 1)) | (1ULL << (SIGQUIT - 1));

// What the tool left behind dies with it. One signal to all of them is enough, since kill(2) and fork(2) exclude each
// other; and without a child we are alone, since an orphan would be our child.
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

// In a jail of our own the owner is told that all is over, and need not wait until we have left too: the kernel then
// takes namespaces apart. In a wrapper's jail the wrapper is still there.
wire::Report last_report(const Run& run, int status) {
  end_the_rest();
  const std::uint32_t all_told = wire::kNobodyLeft;
  return exit_report(status, run.has(wire::kWrapped) ? 0U : all_told);
}

// An owner who is about to leave is quicker when the kernel does not take a jail apart beside it.
void await_end_of(int control) {
  char none = 0;
  sys(__NR_read, long{control}, &none, 1L);
}

[[noreturn]] void reap_until(const Run& run, long tool) {
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

[[noreturn]] void refuse(const Run& run, const Failure& failure, std::uint32_t flags = 0) {
  wire::Report report = failure_report(failure);
  report.flags = flags;
  send_report(run.fds[wire::kFdChannel], report, nullptr, 0);
  exit_now(0);
}

// The tool's bounding set is the one of init, which itself executes nothing.
long empty_bounding_set() {
  // A kernel newer than our headers may know more capabilities; it answers EINVAL past its last one.
  for (long capability = 0; capability < 64; ++capability) {
    const long dropped = sys(__NR_prctl, long{PR_CAPBSET_DROP}, capability, 0L, 0L, 0L);
    if (dropped == -22) break;
    if (dropped < 0) return dropped;
  }
  return 0;
}

// What the shape in `run.image` says.
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

// What the request in `run.image` wants beyond the shape.
bool build_the_rest(Run& run, Failure& failure) {
  Steps steps(*run.image, failure);
  if (run.network.count == 0 && !open_network(run, steps)) return false;
  hand_over_network(run);
  sys(__NR_close, long{run.proc_fd});
  return run.has(wire::kWholeJail) || (add_to_root(run, steps) && enter_root(steps));
}

// From here on nobody in the jail may look into us: not through ptrace, not through /proc/1. And we can do no more than the
// tool: whoever took us over would have won nothing.
[[noreturn]] void start_and_reap(Run& run) {
  sys(__NR_prctl, long{PR_SET_DUMPABLE}, 0L, 0L, 0L, 0L);
  if (!run.has(wire::kSealedJail) && run.image->cgroup_count == 0) {
    Failure failure = {};
    Steps steps(*run.image, failure);
    if (!seal(run, steps)) refuse(run, failure);
  }
  ToolStart start = {&run, {}, 0, 0, 0};
  const long tool = start_tool(start);
  if (tool < 0) refuse(run, start.failure);
  wire::Report started = {};
  started.kind = wire::ReportKind::kStarted;
  started.flags = start.applied;
  send_report(run.fds[wire::kFdChannel], started, &run.scratch_fd, run.scratch_fd >= 0 ? 1 : 0);
  for (std::uint32_t i = wire::kFdStdin; i < run.fd_count; ++i) sys(__NR_close, long{run.fds[i]});
  sys(__NR_close, long{run.scratch_fd});
  reap_until(run, tool);
}

alignas(16) char tool_stack[64 * 1024];

[[noreturn]] void serve_request(Run& run, bool built, const Failure& failure) {
  if (!built) refuse(run, failure, wire::kNotBuilt);
  const long mapped = map_image(run, run.fds[wire::kFdImage]);
  if (mapped < 0) refuse(run, {Stage::kReceive, static_cast<int>(-mapped), 0});
  Failure last = {};
  if (!build_the_rest(run, last)) refuse(run, last);
  start_and_reap(run);
}

// Of an init that leaves because the mounts have changed, or may have: whoever buries it learns why that is not known.
int why_unknown(int mounts_fd) { return mounts_fd < 0 ? -mounts_fd : 0; }

// Unknown is changed.
bool mounts_changed(int mounts_fd) {
  struct pollfd mounts = {mounts_fd, POLLPRI, 0};
  return mounts_fd < 0 || sys(__NR_poll, &mounts, 1L, 0L) != 0;
}

// Sleeps until there is a request, and takes it. A jail that waits and has become stale leaves: it would keep file
// systems busy that the host has unmounted. Each request wakes one of those who wait.
void await_request(int control, Run& run) {
  const long epoll = sys(__NR_epoll_create1, long{EPOLL_CLOEXEC});
  struct epoll_event request = {EPOLLIN | EPOLLEXCLUSIVE, {.fd = control}};
  struct epoll_event alarm = {EPOLLPRI, {.fd = run.mounts_alarm_fd}};
  sys(__NR_epoll_ctl, epoll, long{EPOLL_CTL_ADD}, long{run.mounts_alarm_fd}, &alarm);
  const long added = sys(__NR_epoll_ctl, epoll, long{EPOLL_CTL_ADD}, long{control}, &request);
  if (epoll < 0 || added < 0) exit_now(static_cast<int>(epoll < 0 ? -epoll : -added));
  for (;;) {
    struct epoll_event events[2];
    const long count = sys(__NR_epoll_wait, epoll, events, 2L, -1L);
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

// The other end of a socket is closed. A message that its owner sent before does not hide that.
bool peer_is_gone(int socket) {
  struct pollfd peer = {socket, 0, 0};
  return sys(__NR_poll, &peer, 1L, 0L) != 0;
}

Run the_run;  // an init has one

Run& begin(Ids outside, long more_namespaces) {
  await_signals_only_when_asked();
  the_run.scratch_fd = -1;
  the_run.control_fd = -1;
  the_run.child_stack_top = tool_stack + sizeof tool_stack;
  open_proc(the_run);
  // From before the mounts are copied, so that no change is missed.
  if (more_namespaces != 0) {
    the_run.mounts_fd = open_mount_table();
    the_run.mounts_alarm_fd = open_mount_table();
  }
  MadeAhead& made = the_run.made_ahead;
  make_namespaces(more_namespaces, outside, made);
  if (made.unshared < 0) return the_run;
  made.bounding_set = empty_bounding_set();
  stage_root(made);
  return the_run;
}

Run& begin(const ChildPlace& place) {
  the_run.made_ahead.tied_to_parent = die_with_parent(place.server_pidfd);
  if (the_run.made_ahead.tied_to_parent < 0) exit_now(static_cast<int>(-the_run.made_ahead.tied_to_parent));
  Run& run = begin(place.outside, CLONE_NEWNS);
  run.image = place.shape;
  return run;
}

}  // namespace

void await_signals_only_when_asked() {
  const std::uint64_t handled = kHandledSignals;
  sys(__NR_rt_sigprocmask, long{SIG_SETMASK}, &handled, 0L, 8L);
}

void open_proc(Run& run) {
  run.proc_fd = static_cast<int>(sys(__NR_openat, long{AT_FDCWD}, "/proc", long{O_PATH | O_DIRECTORY | O_CLOEXEC}, 0L));
}

void run_init(const ChildPlace& place) {
  Run& run = begin(place);
  Failure failure = {};
  // A jail that could not be built waits too: whoever asks next must hear of it rather than wait for nobody.
  const bool built = build_ahead(run, failure);
  if (mounts_changed(run.mounts_fd)) exit_now(why_unknown(run.mounts_fd));  // already; the server starts another
  await_request(place.control, run);
  sys(__NR_close, long{place.control});
  if (mounts_changed(run.mounts_fd)) {
    tell_server(place, Handover::kStale, run.fds, run.fd_count);
    exit_now(0);
  }
  tell_server(place, Handover::kTaken, &run.fds[wire::kFdChannel], 1);
  serve_request(run, built, failure);
}

void run_init_at_once(const ChildPlace& place, const Run& request) {
  Run& run = begin(place);
  for (std::uint32_t i = 0; i < request.fd_count; ++i) run.fds[i] = request.fds[i];
  run.fd_count = request.fd_count;
  Failure failure = {};
  const bool built = build_ahead(run, failure);
  serve_request(run, built, failure);
}

void run_lone_init(int control, Ids outside) {
  // From a new pid namespace the parent cannot be seen. If it died before this call, it has closed its end of the control
  // socket by now; that is checked when the request is there.
  the_run.made_ahead.tied_to_parent = die_with_parent(kNoPidfd);
  Run& run = begin(outside, 0);  // while the owner finds out what the shape is
  default_signals();
  const int shape_fd = receive_shape(control);
  if (shape_fd < 0) exit_now(0);
  const long mapped = map_image(run, shape_fd);
  Failure failure = {Stage::kReceive, static_cast<int>(-mapped), 0};
  const bool built = mapped >= 0 && build_ahead(run, failure);
  if (receive_request(control, run, 0) != kRequestSize || peer_is_gone(control)) exit_now(0);
  run.control_fd = control;
  serve_request(run, built, failure);
}

namespace {

bool is_null_device(long fd) {
  constexpr std::uint32_t kMemoryDevices = 1;
  constexpr std::uint32_t kNull = 3;
  struct statx about = {};
  if (sys(__NR_statx, fd, "", long{AT_EMPTY_PATH}, long{STATX_TYPE}, &about) < 0) return false;
  return (about.stx_mode & S_IFMT) == S_IFCHR && about.stx_rdev_major == kMemoryDevices &&
         about.stx_rdev_minor == kNull;
}

}  // namespace

// The wrapper's process 1, with its streams as the tool's, the image at `image_fd` and the channel right behind it.
void run_wrapped_init(int image_fd) {
  await_signals_only_when_asked();
  Run& run = the_run;
  run.control_fd = -1;
  for (std::uint32_t i = 0; i < 3; ++i) run.fds[wire::kFdStdin + i] = static_cast<int>(i);
  run.fd_count = wire::kFdCommonCount;
  run.fds[wire::kFdImage] = image_fd;
  run.fds[wire::kFdChannel] = image_fd + 1;
  run.child_stack_top = tool_stack + sizeof tool_stack;
  const long mapped = map_image(run, image_fd);
  if (mapped < 0) refuse(run, {Stage::kReceive, static_cast<int>(-mapped), 0});
  if (is_null_device(0)) run.image->flags |= wire::kNullStdin;  // the wrapper passed the host's on
  run.scratch_fd =
      static_cast<int>(sys(__NR_openat, long{AT_FDCWD}, "/tmp", long{O_RDONLY | O_DIRECTORY | O_CLOEXEC}, 0L));
  if (run.scratch_fd < 0) refuse(run, {Stage::kTmpfs, -run.scratch_fd, 0});
  Failure failure = {};
  Steps steps(*run.image, failure);
  if (!check_mounts(run, steps)) refuse(run, failure);
  start_and_reap(run);
}

}  // namespace sallyport::spawn::helper
