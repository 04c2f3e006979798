// The spawn helper proper: a small process that keeps idle children ready and reaps them. It runs none of the caller's
// code and has none of the caller's memory, environment or descriptors. Idle children read requests straight from the
// control socket (a packet goes to exactly one of them), so a request never waits for this process.
//
// A child for a tool without a jail is a worker, which takes the owner's commands itself. A child for jails is a jail's
// init: it passes the run's channel to us, and we take the owner's commands for it. So we can kill an init even when it
// is stuck, and each jail has one process less.
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "spawn/freestanding/poll.h"
#include "spawn/helper/children.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

constexpr long kQuietMilliseconds = 4;
constexpr long kRetryMilliseconds = 100;
// When so many children have failed since one took a request, refuse requests rather than start children for ever.
constexpr std::uint32_t kMostFruitless = 32;

Children children;

// What an epoll event carries: one of these, or kFirstChild + the number of a child.
enum Source : std::uint64_t { kControl, kOwner, kHandovers, kChildEvents, kFirstChild };

// Counts the processors that we may use.
std::uint32_t count_processors() {
  std::uint64_t mask[128] = {};
  const long size = sys(__NR_sched_getaffinity, 0L, long{sizeof mask}, &mask[0]);
  std::uint32_t count = 0;
  for (long i = 0; i < size / 8; ++i) {
    for (; mask[i] != 0; mask[i] &= mask[i] - 1) ++count;
  }
  return count > 0 ? count : 1;
}

class Server {
 public:
  Server(int control, std::uint32_t ready, const Ids* another) : another_(another), ready_(ready) {
    place_.control = control;
    children.take_number();  // so that no child has the number 0
  }

  void build_ahead(int shape_fd) {
    for_jails_ = true;
    // A root caller's extra groups would still open files inside. A plain user may not drop its own (EPERM), since a
    // group can also serve to deny access.
    sys(__NR_setgroups, 0L, 0L);
    Run mapping = {};
    can_build_ = map_image(mapping, shape_fd);
    shape_ = mapping.image;
    if (can_build_ >= 0 && shape_->fault_at == Stage::kClone) can_build_ = -5;  // EIO
    sys(__NR_close, long{shape_fd});
  }

  [[noreturn]] void serve() {
    open_everything();
    long failed = start(ready_);
    for (bool missing = false;;) {
      const bool stuck = failed < 0 && children.idle() == 0;
      // Answer a request with a failure rather than not at all.
      if (stuck) refuse_requests(failed);
      listen_for_requests(stuck);
      struct epoll_event events[16];
      const long patience = failed < 0 ? kRetryMilliseconds : kQuietMilliseconds;
      const long ready = epoll_until(epoll_, events, 16, missing && !stuck ? patience : kNoTimeLimit);
      if (ready == -4) continue;        // EINTR
      if (ready < 0) end_everything();  // we could no longer stop any run
      const bool somebody_left = handle_events(events, ready);
      take_handovers();
      if ((somebody_left || closing_) && nobody_left_after_reaping() && closing_) exit_now(0);
      const bool asked = requests_wait();
      if (stuck && asked) fruitless_ = 0;  // each new request gets a new try
      const std::uint32_t wanted = closing_ ? 0 : ready_ + (asked ? more_when_asked_ : 0);
      missing = children.idle() < wanted;
      // Building the next jail would slow down the run that has just started, so we wait for that run's end or for a
      // quiet moment, unless a request waits for a jail now.
      if (ready > 0 && !somebody_left && children.idle() > 0 && !asked) continue;
      failed = start(wanted);
      missing = failed < 0;
    }
  }

 private:
  // Opens first what a child keeps, so that the child can close everything else with one call.
  void open_everything() {
    int handovers[2] = {-1, -1};
    const std::uint64_t signals = 1ULL << (SIGCHLD - 1);
    sys(__NR_rt_sigprocmask, long{SIG_SETMASK}, &signals, 0L, 8L);
    outside_ = {static_cast<std::uint32_t>(sys(__NR_geteuid)), static_cast<std::uint32_t>(sys(__NR_getegid))};
    place_.server_pidfd = static_cast<int>(sys(__NR_pidfd_open, sys(__NR_getpid), 0L));
    if (sys(__NR_socketpair, long{AF_UNIX}, long{SOCK_SEQPACKET | SOCK_CLOEXEC}, 0L, &handovers[0]) < 0) exit_now(1);
    place_.handovers = handovers[0];
    first_of_ours_ = handovers_ = handovers[1];
    child_events_ = sys(__NR_signalfd4, -1L, &signals, 8L, long{O_CLOEXEC | O_NONBLOCK});
    owner_ = sys(__NR_pidfd_open, sys(__NR_getppid), 0L);
    epoll_ = sys(__NR_epoll_create1, long{EPOLL_CLOEXEC});
    if (first_of_ours_ < place_.control || first_of_ours_ < place_.handovers) exit_now(1);
    if (place_.server_pidfd < 0 || child_events_ < 0 || owner_ < 0 || epoll_ < 0) exit_now(1);
    // Watch the control socket only for its closing, which epoll always reports.
    if (watch(EPOLL_CTL_ADD, place_.control, 0, kControl) < 0 || watch(EPOLL_CTL_ADD, owner_, EPOLLIN, kOwner) < 0 ||
        watch(EPOLL_CTL_ADD, handovers_, EPOLLIN, kHandovers) < 0 ||
        watch(EPOLL_CTL_ADD, child_events_, EPOLLIN, kChildEvents) < 0) {
      exit_now(1);
    }
  }

  long watch(long how, long fd, std::uint32_t events, std::uint64_t source) const {
    struct epoll_event event = {events, {.u64 = source}};
    return sys(__NR_epoll_ctl, epoll_, how, fd, &event);
  }

  // The server listens only while there is no idle child to listen.
  void listen_for_requests(bool wanted) {
    if (wanted == listening_ || closing_) return;
    listening_ = wanted;
    watch(EPOLL_CTL_MOD, place_.control, wanted ? EPOLLIN : 0U, kControl);
  }

  // True when a child has ended.
  bool handle_events(const struct epoll_event* events, long count) {
    bool somebody_left = false;
    for (long i = 0; i < count; ++i) {
      switch (events[i].data.u64) {
        case kOwner:
          end_everything();
        case kControl:
          if ((events[i].events & (EPOLLHUP | EPOLLERR)) != 0) stop_listening();
          break;
        case kHandovers:
          break;
        case kChildEvents: {
          char signals[128];  // one read takes them all, since a signal does not queue
          sys(__NR_read, child_events_, signals, long{sizeof signals});
          somebody_left = true;
          break;
        }
        default:
          pass_on_command(static_cast<std::uint32_t>(events[i].data.u64 - kFirstChild));
      }
    }
    return somebody_left;
  }

  // The owner lives on and has closed the socket: idle children exit by themselves, busy ones when their tree is dead.
  void stop_listening() {
    sys(__NR_epoll_ctl, epoll_, long{EPOLL_CTL_DEL}, long{place_.control}, 0L);
    closing_ = true;
  }

  // The owner is gone. Its sockets may live on in a process it forked, so do not wait for them to close: kill the
  // children and their jails now. We are the next subreaper, so we inherit and kill what an unjailed tool left behind.
  [[noreturn]] static void end_everything() {
    children.kill_all();
    kill_descendants();
    exit_now(0);
  }

  // A closed channel counts as the last command. We have not reaped the child yet, so the pid is still its own.
  void pass_on_command(std::uint32_t number) {
    const Child* child = children.find(number);
    if (child == nullptr || child->channel < 0) return;
    wire::Command command = wire::Command::kKill;
    const long size = sys(__NR_recvfrom, long{child->channel}, &command, 1L, long{MSG_DONTWAIT}, 0L, 0L);
    const bool nothing_yet = size == -11 || size == -4;  // EAGAIN, EINTR
    const bool terminate = size == 1 && command == wire::Command::kTerminate;
    const bool finish = size == 1 && command == wire::Command::kFinish;
    if (terminate || finish) sys(__NR_kill, long{child->pid}, long{terminate ? SIGTERM : SIGQUIT});
    if ((nothing_yet || terminate || finish) &&
        watch(EPOLL_CTL_MOD, child->channel, EPOLLIN | EPOLLONESHOT, kFirstChild + number) >= 0) {
      return;
    }
    sys(__NR_kill, long{child->pid}, long{SIGKILL});
  }

  void take_handovers() {
    for (;;) {
      Handover handover = {};
      Run& request = request_;
      const long size =
          receive_with_fds(handovers_, &handover, sizeof handover, request.fds, request.fd_count, MSG_DONTWAIT);
      if (size == -4) continue;  // EINTR
      if (size != static_cast<long>(sizeof handover)) return;
      fruitless_ = 0;
      if (handover.what == Handover::kStale) {
        build_at_once(request);
        continue;
      }
      Child* child = children.find(handover.child);
      if (child == nullptr) {
        close_all_but(request, -1);
        continue;
      }
      children.make_busy(*child);
      if (for_jails_) take_commands_for(*child, request);
    }
  }

  // If we could not stop an init, it must not live.
  void take_commands_for(Child& child, const Run& request) const {
    child.channel = request.fd_count == 1 ? request.fds[0] : -1;
    if (child.channel >= 0 &&
        watch(EPOLL_CTL_ADD, child.channel, EPOLLIN | EPOLLONESHOT, kFirstChild + child.number) >= 0) {
      return;
    }
    sys(__NR_kill, long{child.pid}, long{SIGKILL});
  }

  // Takes a dead child's last handover before it reaps that child.
  bool nobody_left_after_reaping() {
    for (;;) {
      int status = 0;
      struct rusage usage = {};
      const long pid = sys(__NR_wait4, -1L, &status, 1L /* WNOHANG */, &usage);
      if (pid <= 0) return pid == -10;  // ECHILD
      Child* child = children.find_pid(pid);
      if (child != nullptr && child->idle) {
        take_handovers();
        child = children.find_pid(pid);
      }
      if (child == nullptr) continue;
      if (child->idle) count_if_fruitless(status);
      if (child->channel >= 0) report_end_of_init(child->channel, status, usage);
      children.remove(*child);
    }
  }

  // It exits with 0 when the host's mounts have changed, or the owner is gone. Otherwise it was killed, or could not
  // start, and its exit code says why.
  void count_if_fruitless(int status) {
    if (status == 0) return;
    ++fruitless_;
    const bool exited = (status & 0x7f) == 0;
    why_fruitless_ = exited ? -(status >> 8) : -11;  // EAGAIN
  }

  [[nodiscard]] bool requests_wait() const {
    struct pollfd requests = {place_.control, POLLIN, 0};
    return poll_now(&requests, 1) > 0;
  }

  void refuse_requests(long error) {
    for (;;) {
      const long size = receive_request(place_.control, request_, MSG_DONTWAIT);
      if (size != kRequestSize && size != kIncompleteRequest) return;
      refuse_request(request_, error);
    }
  }

  // Starts children until `wanted` wait. Returns 0, or the error that stopped it.
  long start(std::uint32_t wanted) {
    while (children.idle() < wanted) {
      if (fruitless_ >= kMostFruitless) return why_fruitless_;
      const std::uint32_t number = children.take_number();
      const long pid = clone_child();
      if (pid == 0) become_child(number);
      if (pid < 0) return pid;
      children.add_idle(pid, number);
    }
    return 0;
  }

  // Init makes the mount namespace itself, once it watches the host's mounts for changes.
  [[nodiscard]] long clone_child() const {
    if (children.full()) return -11;  // EAGAIN
    if (can_build_ < 0) return can_build_;
    constexpr long kNamespaces = CLONE_NEWUSER | CLONE_NEWPID;
    if (another_ != nullptr) return clone_as_another(kNamespaces, *another_);
    return clone_copying_memory(for_jails_ ? kNamespaces : 0L);
  }

  [[nodiscard]] InitStart init_start(const Run* request) const {
    return {.kind = wire::HelperKind::kInits,
            .outside = outside_,
            .control = place_.control,
            .child = &place_,
            .shape = shape_,
            .request = request,
            .as_another = another_ != nullptr};
  }

  [[noreturn]] void become_child(std::uint32_t number) {
    sys(__NR_close_range, long{first_of_ours_}, 0x7fffffffL, 0L);
    place_.number = number;
    if (for_jails_) run_init(init_start(nullptr));
    run_worker(place_);
  }

  // The waiting jail is stale and cannot serve this request; build one from scratch that sees the host as it is now.
  void build_at_once(Run& request) {
    const std::uint32_t number = children.take_number();
    const long pid = request.fd_count < wire::kFdCommonCount ? kIncompleteRequest : clone_child();
    if (pid == 0) {
      children.close_channels();
      const long ours[] = {handovers_, child_events_, owner_, epoll_};
      for (const long fd : ours) sys(__NR_close, fd);
      run_init(init_start(&request));
    }
    if (pid < 0) {
      refuse_request(request, pid);
      return;
    }
    close_all_but(request, request.fds[wire::kFdChannel]);
    request.fd_count = 1;
    take_commands_for(children.add_busy(pid, number), request);
  }

  ChildPlace place_ = {};
  Ids outside_ = {};
  const Ids* const another_;      // when the jails' tools run as another user
  wire::Image* shape_ = nullptr;  // of jails: what init builds before there is a request
  Run request_ = {};              // only while we handle it
  const std::uint32_t ready_;
  // A child that builds a jail sometimes waits for the kernel: while requests wait, keep one more child per processor.
  const std::uint32_t more_when_asked_ = count_processors();
  std::uint32_t fruitless_ = 0;
  long why_fruitless_ = 0;
  bool for_jails_ = false;
  bool closing_ = false;
  bool listening_ = false;
  long can_build_ = 0;  // 0, or the error
  int handovers_ = -1;
  int first_of_ours_ = -1;
  long child_events_ = -1;
  long owner_ = -1;
  long epoll_ = -1;
};

}  // namespace

void serve(const wire::HelperStart& start, int control) {
  const Ids another = {start.uid, start.gid};
  Server server(control, start.ready, start.as_another ? &another : nullptr);
  if (start.kind == wire::HelperKind::kInits) {
    const int shape_fd = receive_shape(control);
    if (shape_fd < 0) exit_now(0);
    server.build_ahead(shape_fd);
  }
  server.serve();
}

}  // namespace sallyport::spawn::helper
