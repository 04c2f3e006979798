// The messages between the owner (libsallyport, any size, any number of threads) and the spawn helper (a tiny static
// program without libc). Plain data only: both sides are always built together, so there is no versioning beyond a
// magic number, and offsets count from the start of the image.
//
//   owner --(control socket: the shape)------> a new helper for jails: a launch image to be built ahead of requests
//   owner --(control socket: Request + fds)--> an idle child of the helper
//   owner <--(per-run channel: Report)-------- the worker, or the jail's init
//   owner --(per-run channel: Command)-------> the worker, or the helper for a jail's init
//
// A helper for one jail is that jail's init and a child of the owner, which commands it by signals.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

#include "sallyport/setup_stage.h"

namespace sallyport::spawn::wire {

inline constexpr std::uint32_t kMagic = 0x53505254;  // "SPRT"
inline constexpr int kControlFd = 3;                 // where the helper finds its control socket
inline constexpr std::size_t kMaxCgroups = 8;
inline constexpr std::size_t kMaxPassedFds = 208;
inline constexpr std::size_t kMaxNetSockets = 128;
inline constexpr std::size_t kMaxNetFds = kMaxNetSockets + 1;  // plus one that a message may keep
inline constexpr int kFirstPassedFd = 10;                      // where a wrapper finds the descriptors it was given
inline constexpr int kFirstRuntimeFd = 3;                      // the same for kInRuntime: `runc run --preserve-fds`
inline constexpr std::size_t kMaxRequestFds = 8 + kMaxCgroups + kMaxPassedFds;

inline constexpr std::size_t kMaxWarmJails = 64;

// The step under way; with errno it says why a tool never started.
using Stage = SetupStage;

// The tool's user inside our jails: any id but root's.
inline constexpr std::uint32_t kInsideId = 1000;

// Steps that give the jail its root file system, in order. Paths in `target` are relative to the new root.
enum class OpKind : std::uint32_t {
  kDirectory,      // target, mode
  kFile,           // target, mode, content
  kCopy,           // target, mode; content is that of host file `source`, if that can be read
  kSymlink,        // target -> source (the link's text)
  kBind,           // host path `source` (identity-checked unless device is 0) onto target
  kBindInside,     // source is a path inside the new root; kOpSystem: where no bind of the caller's is yet
  kTmpfs,          // target, mode; content is its options
  kProc,           // target
  kDevpts,         // target
  kMqueue,         // target
  kCheckIdentity,  // target, an absolute path inside a wrapper's jail, must be the file the owner checked
  kMask,           // target is hidden behind /dev/null (file) or an empty directory, when it exists
  kOverlay,        // target, where the directory of its layers is mounted, becomes overlayfs; content is its options
  kCheckText,      // file source, or if it is absent file target, must begin with content
  kCount
};

enum OpFlag : std::uint32_t {
  kOpReadOnly = 1U << 0U,
  kOpNoDevices = 1U << 1U,
  kOpNoExec = 1U << 2U,
  kOpReportFd = 1U << 3U,  // pass a descriptor of this mount to the owner with Report::kStarted
  kOpMakeFile = 1U << 4U,  // create an empty regular file as the target first
  // Of a bind: `source` is the system's, so only root could swap it; `target` is directly in the new root.
  kOpSystem = 1U << 5U,
  // The caller chose `target`: resolve it beneath the new root, and through no symlink.
  kOpBeneath = 1U << 6U,
};

struct Op {
  OpKind kind;
  std::uint32_t flags;
  std::uint32_t source;   // string offset
  std::uint32_t target;   // string offset
  std::uint32_t content;  // bytes offset
  std::uint32_t content_size;
  std::uint32_t mode;
  std::int32_t tree_fd;  // scratch space of the helper
  std::uint64_t device;
  std::uint64_t inode;
};

struct ResourceLimit {
  std::uint32_t resource;
  std::uint32_t unused;
  std::uint64_t soft;
  std::uint64_t hard;
};

// A datagram for the kernel; when `required`, the kernel must accept it.
struct NetMessage {
  std::uint32_t protocol;  // NETLINK_*
  std::uint32_t bytes;     // offset
  std::uint32_t size;
  std::uint32_t required;
  std::uint32_t flag_when_done;  // a ReportFlag
  // ReportFlags: send only when all of `only_with` and none of `not_with` are set.
  std::uint32_t only_with;
  std::uint32_t not_with;
  std::uint32_t keep;  // pass its socket to the owner, after the others; for at most one message
};

// Bound to every address of the jail's network namespace, and passed to the owner.
struct NetSocket {
  std::uint32_t type;  // SOCK_STREAM or SOCK_DGRAM
  std::uint32_t port;
};

enum ImageFlag : std::uint32_t {
  kJailed = 1U << 0U,  // namespaces, new root, own init; Landlock too when the kernel has it
  // The started program builds a jail itself: it also inherits the channel, after its passed descriptors, and an init
  // of ours inside that jail reports the tool's fate there.
  kWrapper = 1U << 1U,
  // We are that init: the wrapper has already made namespaces and root, and dropped capabilities.
  kWrapped = 1U << 2U,
  // Set in the shape, and again in the request: the jail is built completely, and init is confined as the tool will be.
  kWholeJail = 1U << 3U,
  kSealedJail = 1U << 4U,
  // Stdin is the null device, opened inside the jail: the tool must not get the host's node, not even as a descriptor.
  // Ignore the descriptor at kFdStdin.
  kNullStdin = 1U << 5U,
  kAllowSpeculation = 1U << 6U,  // leave the processor's speculation controls as they are
  kAsAnother = 1U << 7U,         // a worker that is root starts its program as `as_uid`, `as_gid`
  kReportTree = 1U << 8U,        // pass a pidfd of the process above the tool to the owner with Report::kStarted
  // No namespaces, but locks: the owner's Landlock ruleset, no capabilities, a seccomp program that asks its worker.
  kConfined = 1U << 9U,
  // The worker hands connections to the owner (handed.h). Of kConfined: its filter also asks for TCP sockets and
  // connections. Of kFramed: the init inside carries them (carried.h).
  kHandsConnections = 1U << 10U,
  // Of kWrapper: an OCI runtime. It inherits, after the channel, a pidfd of its worker and the host's /proc. Of
  // kWrapped: we are process 1 of its container, root in the runtime's user namespace and without capabilities. Our
  // descriptors are the tool's three streams, a cgroup.procs per cgroup, the image, the channel, that pidfd, that
  // /proc.
  kInRuntime = 1U << 11U,
  // Of kWrapper: its stdin and stdout carry frames (frame.h), and its first passed descriptor is the image for the init inside.
  kFramed = 1U << 12U,
  // Of a worker: what it starts is a container engine's client. It stays in our namespaces and may gain privileges
  // (newuidmap, for a plain user's podman). With kFramed, the worker keeps its messages for a failed start, and sends
  // its container kAlive. Of kWrapped: we are process 1 of that container, watch its scratch, and read its counter of
  // out-of-memory kills.
  kEngine = 1U << 13U,
  // `exec_path` is a list of places in an image, separated by ':'; init executes the first one that it can.
  kExecSearched = 1U << 14U,
  // We are process 1 of a virtual machine (guest_init.cc): root there, with frames over virtio-serial and the limits in
  // `guest_*` to keep.
  kInGuest = 1U << 15U,
  kGuestNetwork = 1U << 16U,  // the machine has a network card
  kGuestWrites = 1U << 17U,   // and a share that can be written
};

// First bytes of a launch image. `*_at` are offsets into the image; argv and envp are arrays of 64-bit offsets which
// the helper turns into pointers in its private mapping.
struct Image {
  std::uint32_t magic;
  std::uint32_t flags;
  std::uint64_t size;
  std::uint32_t argv_at, argv_count;
  std::uint32_t env_at, env_count;
  std::uint32_t ops_at, op_count;  // of a request: the ops that the shape lacks
  std::uint32_t limits_at, limit_count;
  std::uint32_t seccomp_at, seccomp_count;    // struct sock_filter each
  std::uint32_t writable_at, writable_count;  // 64-bit string offsets: Landlock's writable places; of kConfined:
                                              // where files' modes, owners and times may change
  std::uint32_t net_messages_at, net_message_count;
  std::uint32_t net_sockets_at, net_socket_count;  // of a request: 0 when the jail has the run's network already
  std::uint32_t cwd;                               // string; used when jailed
  std::uint32_t exec_path;                         // string; used when jailed, else the exe descriptor is executed
  std::uint64_t exec_device, exec_inode, exec_size;
  std::int64_t exec_mtime_ns;
  std::uint32_t cgroup_count;
  std::uint32_t passed_count;
  std::uint32_t as_uid, as_gid;
  // Of a wrapper: a worker that could make our network puts the string `network_word` into argv at this index. Index 0:
  // the network is not optional.
  std::uint32_t network_word_at, network_word;
  std::uint64_t guest_memory, guest_pids;  // of kInGuest; 0: not limited
  // Of an init that carries connections (carried.h): it listens on `carried_count` addresses from this IPv4 address on
  // (host byte order), at the ports of `net_sockets`. Count 0: it carries none.
  std::uint32_t carried_from, carried_count;
  Stage fault_at;  // tests only: this stage fails with EIO
};

// Sent on the control socket, with the descriptors in this order. A shape is a request with its image alone.
struct Request {
  std::uint32_t magic;
  std::uint32_t fd_count;
};
enum RequestFd : std::uint32_t {
  kFdChannel,
  kFdImage,
  kFdStdin,
  kFdStdout,
  kFdStderr,
  kFdCommonCount,
  // An unjailed run has these two next; a jailed one opens both inside its own root instead.
  kFdExe = kFdCommonCount,
  kFdCwd,
  kFdNoJailCount,
  kFdRuleset = kFdNoJailCount,  // of kConfined
  kFdConfinedCount,
  // Then, for each kind, one cgroup.procs per cgroup to join, and what the tool is to inherit from kFirstPassedFd on.
};

// kFinish: the reaper of the tree kills it, reaps it and reports, so that what the killed processes used is counted.
// kKill: the reaper itself is killed, even when it is stuck.
enum class Command : std::uint8_t { kTerminate = 'T', kFinish = 'F', kKill = 'K' };

enum class ReportKind : std::uint32_t { kStarted = 1, kFailed, kExited, kNetwork };

enum ReportFlag : std::uint32_t {
  kAppliedLandlock = 1U << 0U,
  kInitDied = 1U << 1U,         // the wait status is that of the jail's init, not of the tool
  kWrapperExited = 1U << 2U,    // the wait status is the wrapper's own
  kPortsRedirected = 1U << 3U,  // of kNetwork: connections to ports without a socket also reach one of the sockets
  kNotBuilt = 1U << 4U,         // of kFailed: the jail built ahead is unsound; nothing was started
  kRefusalsShown = 1U << 5U,    // of kNetwork: its last descriptor is a netlink socket for parse_refusals()
  kRefusesAtOnce = 1U << 6U,    // of kNetwork: the kernel itself refuses what it can
  kTreeShown = 1U << 7U,        // of kStarted: its last descriptor is a pidfd, see kReportTree
  kHandsThemOver = 1U << 8U,    // of kNetwork: its descriptor is the socket for connections (handed.h)
  // Of kNetwork with kHandsThemOver: no address but those of loopback can be reached in there.
  kLoopbackOnly = 1U << 9U,
  kCarriesThem = 1U << 10U,  // of kStarted: connections can be carried now, see Image::carried_count
  kNobodyLeft = 1U << 11U,   // of kExited: only the jail's init is still alive, and it exits now
};

struct Report {
  ReportKind kind;
  Stage stage;
  std::int32_t error;
  std::int32_t wait_status;
  std::uint32_t flags;
  std::uint32_t scratch_was_full;  // of kExited, see below
  std::uint64_t user_us, system_us, peak_rss_bytes;
  std::uint32_t uid, gid;  // of kStarted from an init of kEngine: its user inside the container
  // Of kExited from a machine or an engine's container: only its init can measure its kernel and scratch.
  std::uint64_t oom_kills, scratch_bytes, scratch_files;
};

inline void put_usage(const struct rusage& usage, Report& report) {
  report.user_us = static_cast<std::uint64_t>(usage.ru_utime.tv_sec * 1'000'000 + usage.ru_utime.tv_usec);
  report.system_us = static_cast<std::uint64_t>(usage.ru_stime.tv_sec * 1'000'000 + usage.ru_stime.tv_usec);
  report.peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace sallyport::spawn::wire
