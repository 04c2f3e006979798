// One run as the helper sees it: the request's descriptors and its launch image, relocated in a private mapping.
#pragma once

#include "spawn/freestanding/sys.h"
#include "spawn/wire/helper_start.h"
#include "spawn/wire/wire.h"

namespace sallyport::spawn::helper {

struct Ids {
  std::uint32_t uid;
  std::uint32_t gid;
};

// What a jail's init does before it knows the shape. Each field is the kernel's answer.
struct MadeAhead {
  long tied_to_parent;
  long unshared;
  long mapped;
  long loopback;
  long hostname;
  long bounding_set;
  long private_mounts;
  long new_root;
};

// The network of a jail, open but not handed over yet.
struct Network {
  int sockets[wire::kMaxNetFds];
  std::uint32_t count;
  std::uint32_t flags;  // wire::ReportFlag bits
};

struct Run {
  int fds[wire::kMaxRequestFds];
  std::uint32_t fd_count;
  wire::Image* image;
  int scratch_fd;        // of the mount flagged kOpReportFd, or -1
  int control_fd;        // of an init without a server; else -1
  int proc_fd;           // the host's /proc, which a new root covers
  int own_pidfd;         // used by a worker that starts an OCI runtime
  int handed_fd;         // of kHandsConnections: where connections go to the owner
  int oom_counter_fd;    // of kInGuest: the kernel's /proc/vmstat
  int guest_scratch_fd;  // and its scratch mount
  int answers_fd;        // of kConfined, in the tool's process: where the listener of its seccomp program goes
  // Two files that show when the host's mounts have changed since the jail's copy of them was made. The kernel reports a
  // change once per file, and epoll_ctl(2) takes that report too, so the file that decides is for poll(2) alone.
  int mounts_fd;
  int mounts_alarm_fd;
  MadeAhead made_ahead;
  std::uint32_t applied_ahead;  // wire::ReportFlag bits
  bool as_another;              // this init is root outside, and its tool another user: see as_another.cc
  Network network;
  char* child_stack_top;

  [[nodiscard]] char* at(std::uint64_t offset) const { return reinterpret_cast<char*>(image) + offset; }
  [[nodiscard]] bool has(std::uint32_t flag) const { return (image->flags & flag) != 0; }
  [[nodiscard]] bool jailed() const { return has(wire::kJailed); }
  [[nodiscard]] bool confined() const { return has(wire::kConfined); }
  // The jail's last locks need capabilities, which a user namespace of ours gives. If a wrapper has dropped them
  // already, nothing is left to lock.
  [[nodiscard]] bool in_own_user_namespace() const { return !has(wire::kWrapped) || has(wire::kInRuntime); }
  [[nodiscard]] std::uint32_t first_cgroup_fd() const {
    if (confined()) return wire::kFdConfinedCount;
    return jailed() ? wire::kFdCommonCount : wire::kFdNoJailCount;
  }
};

// For a run without a channel: its reports are frames on stdout.
constexpr int kFramedChannel = -2;

// A worker's ends: of the wrapper's streams, which carry frames, and of the tool's own streams.
struct Framing {
  int to_init;
  int from_init;
  int in;
  int out;
  int err;
  int said;  // an engine's client's own messages; else -1
};

// Where a step stopped. Written by a child that shares our memory, or sent over the channel by one that does not.
struct Failure {
  wire::Stage stage;
  int error;
};

// Each step names its stage; a negative errno then becomes the failure. `fault_at` lets tests fail every step.
class Steps {
 public:
  Steps(const wire::Image& image, Failure& failure) : image_(image), failure_(failure) {}

  bool ok(wire::Stage stage, long result) {
    failure_.stage = stage;
    if (image_.fault_at == stage) result = -5;  // EIO
    failure_.error = result < 0 ? static_cast<int>(-result) : 0;
    return result >= 0;
  }

 private:
  const wire::Image& image_;
  Failure& failure_;
};

// child.cc: the last steps before exec, in the tool's own process. Returns only by leaving `failure` and exiting.
struct ToolStart {
  const Run* run;
  Failure failure;
  std::uint32_t applied;  // wire::ReportFlag bits
  unsigned init_is;       // whether the tool may go on to its exec: see start_beside
  unsigned before_exec;   // 0 once the tool has executed or exited
};
// Confines the calling init as the tool will be, which inherits it. Not for a tool that has to join a cgroup first.
bool seal(Run& run, Steps& steps);
// Starts the tool in a child that borrows our memory. Returns its pid, or a negative errno with `start.failure` filled
// in.
long start_tool(ToolStart& start);

// For a process that needs no capability any more and executes nothing else.
long drop_capabilities();

// child_confined.cc: the locks of a tool without namespaces. 0 or a negative errno.
long enter_ruleset(const Run& run);
// Installs the seccomp program and passes its listener on.
long ask_by_seccomp(const Run& run);

// questions.cc: answers one question of the tool's seccomp program.
void answer_question(const Run& run, int listener);
// sockets.cc: for a run with a handed_fd, when that is readable. False: the owner no longer answers.
bool take_owners_answer(const Run& run, int listener);

// child_landlock.cc: a descriptor, or a negative errno.
constexpr long kNoLandlock = -1000000;  // this kernel has none
long make_landlock_ruleset(const Run& run);

// child_root.cc: builds the jail's root file system and moves into it. Runs as the jail's init.
// Makes an empty root for it, beside the host's, and makes that the working directory.
void stage_root(MadeAhead& made);
bool add_to_root(Run& run, Steps& steps);
bool enter_root(Steps& steps);
// In a wrapper's jail: checks that every mount the image names is the file the owner checked, and makes what the
// wrapper could not make.
bool finish_wrappers_root(Run& run, Steps& steps);

// What the server gives each of its children.
struct ChildPlace {
  int control;
  int handovers;  // to the server, see send_handover
  int server_pidfd;
  std::uint32_t number;  // the child's own
};

// What a child sends to the server, once: that it has a request, so that the server starts another child in its place.
struct Handover {
  enum What : std::uint32_t {
    kTaken,  // from an init with the run's channel: the server listens to the owner from now on
    kStale,  // with the whole request: the host's mounts have changed, so this jail cannot serve it
  };
  What what;
  std::uint32_t child;
};

// main.cc: returns 0, or a negative errno, also when the parent is already gone.
constexpr int kNoPidfd = -1;  // the parent cannot be seen from here
long die_with_parent(int parent_pidfd);
// Resets all signals, so that the tool does not inherit those that the owner ignores; an exec resets only those with a
// handler.
void default_signals();

// init.cc: the jail's first process, the one entry for all of them. `kind` says where it is: in a jail of its own making (kOneRun,
// kInits), in a wrapper's (kWrapped, kFramed) or in a virtual machine (kGuest). An init of kOneRun or kInits waits at
// the control socket for the shape or request that it lacks.
struct InitStart {
  wire::HelperKind kind;
  // Of kOneRun and kInits.
  Ids outside = {};  // the owner's, for the user namespace we are in
  int control = -1;  // the control socket
  const ChildPlace* child =
      nullptr;  // null: our parent is the owner, not a server, and we are in a new mount namespace already
  wire::Image* shape = nullptr;  // what to build before there is a request; null: the owner sends it
  const Run* request = nullptr;  // null: the owner sends it when the shape is built
  bool as_another = false;       // started by clone_as_another()
  // Of kWrapped: the image; the channel is the next descriptor.
  int wrapped_image_fd = -1;
};
[[noreturn]] void run_init(const InitStart& start);
void await_signals_only_when_asked();
// The tool's bounding set is that of init, which itself executes nothing.
long empty_bounding_set();
// Reports a failed step, and exits.
[[noreturn]] void refuse(const Run& run, const Failure& failure, std::uint32_t flags = 0);
// Confines this init, starts the tool, and reports that. Returns the tool's pid.
long start_confined(Run& run);

// framed_init.cc: an init that has frames only. open_framed_run() takes the image; 0 or a negative errno.
long open_framed_run(Run& run);
[[noreturn]] void start_and_serve_frames(Run& run);
// guest_init.cc: process 1 of a virtual machine. open_guests_port() makes the port its stdin and stdout;
// build_in_guest() does what the image says, up to the tool's user. linger_in_guest() does not return in a machine: the
// last report may still be on its way, and its reader ends the machine.
void open_guests_port();
bool build_in_guest(Run& run, Steps& steps);
void linger_in_guest(const Run& run);
// guest_watch.cc: what only the guest can measure, for its last report. Returns true when scratch is full.
bool measure_scratch(const Run& run, wire::Report& seen);
void add_guests_facts(const Run& run, const wire::Report& seen, wire::Report& report);
// framed_worker.cc: the worker of such an init's wrapper. A negative errno when a step fails.
long prepare_framing(Run& run, Framing& framing);
long send_framed_image(const Run& run, const Framing& framing);
void serve_frames_until_exit(const Run& run, const Framing& framing, int pidfd);
void open_proc(Run& run);

// as_another.cc: root's run over another user's repo, whose tool runs as that user (ADR 0066). clone_as_another() is
// like clone_copying_memory(), and maps the new init's ids; become_another() is that init's last step before it is
// confined. become_another_in_worker() is for a worker for which a wrapper builds the jail.
long clone_as_another(long namespaces, Ids another);
long become_another();
long become_another_in_worker(Ids another);

// reap.cc: sends the last report once the tool and everything else in the pid namespace is dead, and exits.
[[noreturn]] void reap_until_end(const Run& run, long tool);
// Kills and reaps all but this process in its pid namespace.
void end_the_rest();

// namespaces.cc: puts this process, which is in a user namespace of its own, into fresh network, ipc and uts namespaces, and
// `more`. Then it maps its ids to `outside`, unless its parent has done so (null).
void make_namespaces(long more, const Ids* outside, MadeAhead& made);
// Writes the id maps of the process with this /proc directory (no '/' at the end); 0 or a negative errno.
long map_ids(const char* process, Ids inside, Ids outside);
// Puts this process into fresh user and network namespaces, in which its ids are unchanged.
bool make_network_namespace(Steps& steps);
// Puts it into a fresh mount namespace, and also into such a user namespace when it must.
bool make_mount_namespace(Steps& steps);
// In that namespace: makes read-only the nodes that a wrapper shows in its jail, and the cgroups, which an OCI runtime
// would otherwise create and, when it is killed, leave behind; 0 or a negative errno.
long make_devices_read_only();
long make_cgroups_read_only();
// Makes a user namespace below the OCI runtime's, in which the runtime's root is the jail's user; `proc` is a writable
// /proc. 0 or a negative errno.
long make_user_namespace(int proc);

// network.cc: makes the image's network, if it names one, in place of one that was made ahead; passes its sockets to the
// owner.
bool open_network(Run& run, Steps& steps);
void hand_over_network(Run& run);
long loopback_up();

// tree.cc: finds everything below us through /proc.
enum class Spare { kNobody, kChildren };  // a wrapper that is our child must live on to hold its jail together
void signal_descendants(int signal_number, Spare spare = Spare::kNobody);
// Kills and reaps until nothing that descends from us is left.
void kill_descendants();

// request.cc: waits for a request. Returns its size, or what recvmsg(2) returned (0: the owner is gone), or
// kIncompleteRequest when some descriptors did not arrive; `run` then holds those that did.
constexpr long kRequestSize = sizeof(wire::Request);
constexpr long kIncompleteRequest = -24;  // EMFILE
long receive_request(int control, Run& run, long flags);
// A helper for jails first receives the image to build ahead. Returns its descriptor, or -1 when the owner is gone.
int receive_shape(int control);
// Returns what recvmsg(2) returns. `fds` has room for a whole request's descriptors.
long receive_with_fds(int socket, void* bytes, std::size_t size, int* fds, std::uint32_t& count, long flags);
void close_all_but(const Run& run, int keep);
// Maps a launch image, checks it and turns the offsets of argv and env into pointers; 0 or a negative errno.
long map_image(Run& run, int fd);
// The same for an image that is in memory already.
long adopt_image(Run& run, long address, std::uint64_t size);
// The same for the image of the request in `run`; the image must name as many descriptors as have arrived.
long map_request(Run& run);

// server.cc: keeps `start.ready` children ready, starts another for each that gets a request, and ends with the owner.
[[noreturn]] void serve(const wire::HelperStart& start, int control);

// worker.cc: waits for one request for a tool without a jail of ours, runs it, exits.
[[noreturn]] void run_worker(const ChildPlace& place);

// report.cc: what the owner receives. The descriptors come with the message.
wire::Report failure_report(const Failure& failure);
wire::Report exit_report(int wait_status, std::uint32_t flags);
void send_report(int channel, const wire::Report& report, const int* fds, std::uint32_t fd_count);
// From the server, for an init that has ended. Init exits with 0 once it has reported everything itself; this reports
// any other end. Closes the channel.
void report_end_of_init(int channel, int status, const struct rusage& usage);
// From the server, for a request that no child can serve. Closes the request's descriptors.
void refuse_request(const Run& request, long error);
void send_handover(const ChildPlace& place, Handover::What what, const int* fds, std::uint32_t fd_count);
// Sends kStarted with the run's scratch and the pidfd `tree`, where they exist. Closes both.
void report_started(const Run& run, std::uint32_t applied, long tree);
// A pidfd of this process if the image wants it reported, kNoTree if not, or a negative errno.
constexpr long kNoTree = -1000000;
long open_tree_pidfd(const Run& run);
// Sends one message with descriptors; a negative errno when the other end is closed.
long send_with_fds(int socket, const void* bytes, std::size_t size, const int* fds, std::uint32_t fd_count);

}  // namespace sallyport::spawn::helper
