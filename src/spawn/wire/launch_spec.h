// What to start and in which place, as a plain value: jails render it (pure), HelperClient starts it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/view/host_view.h"
#include "sallyport/jail_port.h"
#include "sallyport/receipt.h"
#include "spawn/wire/wire.h"

namespace sallyport::spawn {

// One step of building a jail's root; see wire::OpKind for which fields matter. `target` has no leading slash.
struct RootOp {
  wire::OpKind kind{};
  std::string target{};
  std::string source{};
  std::string content{};    // a file's bytes, or mount options
  std::uint32_t flags = 0;  // wire::OpFlag
  std::uint32_t mode = 0;
  std::optional<FileIdentity> identity{};
  bool operator==(const RootOp&) const = default;
};

// No jail: the worker executes the checked descriptor in the checked directory.
struct NoJailPlace {
  int exe_fd = -1;                 // borrowed
  int cwd_fd = -1;                 // borrowed
  bool is_wrapper = false;         // it builds a jail in which an init of ours reports
  bool is_runtime = false;         // that wrapper is an OCI runtime: see wire::kInRuntime
  bool is_framed = false;          // no descriptor reaches the init inside that wrapper: see wire::kFramed
  bool is_engine = false;          // a container engine's client: see wire::kEngine
  bool hands_connections = false;  // if framed, its init carries them; NetworkOpened::connections_handed follows
};

// Like NoJailPlace, but confined by locks, in the host's own namespaces (jails/landlock).
struct ConfinedPlace {
  int exe_fd = -1;  // borrowed, like the other two
  int cwd_fd = -1;
  int ruleset_fd = -1;                  // a Landlock ruleset
  std::string seccomp{};                // struct sock_filter[], as bytes; it may ask the worker
  std::vector<std::string> writable{};  // canonical: where files' modes, owners and times may change
  bool hands_connections = false;       // the filter asks for TCP too; NetworkOpened::connections_handed follows
  bool allow_speculation = false;
};

// The jail is in a virtual machine, whose process 1 is our init: the init keeps the limits that cannot be kept from
// outside.
struct GuestPlace {
  std::uint64_t memory = 0;  // bytes; 0: the machine's own
  std::uint64_t pids = 0;    // 0: not limited
  bool network = false;
  bool writes = false;  // to something that the host shares
};

// Namespaces, a new root, an init of its own. The executable is opened inside and compared with `exe`.
struct JailPlace {
  std::vector<RootOp> root_ops{};
  std::string cwd{};
  BinaryIdentity exe{};
  std::vector<std::string> landlock_writable{};  // paths inside; everything else cannot be written
  std::string seccomp{};                         // struct sock_filter[], as bytes
  bool wrapped = false;     // for our init inside another program's jail: only the last steps are ours
  bool in_runtime = false;  // and that program is an OCI runtime: see wire::kInRuntime
  bool in_engine = false;   // and that program is a container engine: see wire::kEngine
  // Instead of `exe`: places inside; init executes the first one that it can.
  std::vector<std::string> exe_places{};
  bool allow_speculation = false;
  std::optional<GuestPlace> guest{};
};

// A network namespace in which every address is local, with the sockets that answer there; empty: a cut network.
struct NetworkSpec {
  struct Message {
    std::uint32_t protocol = 0;  // NETLINK_*
    std::string bytes{};
    bool required = true;
    std::uint32_t flag_when_done = 0;  // a wire::ReportFlag
    std::uint32_t only_with = 0;       // wire::ReportFlags: send only when all of these are set
    std::uint32_t not_with = 0;        // and when none of these is
    bool keep = false;                 // its socket comes after `sockets`; for at most one message
    bool operator==(const Message&) const = default;
  };
  struct Socket {
    std::uint32_t type = 0;  // SOCK_STREAM or SOCK_DGRAM
    std::uint16_t port = 0;
    bool operator==(const Socket&) const = default;
  };
  // For our init in a jail whose network is only a loopback: it listens on these addresses at the ports of `sockets`,
  // and connections to them are carried out (wire/carried.h).
  struct Carried {
    std::uint32_t from = 0;  // IPv4, in the host's byte order
    std::uint32_t count = 0;
    bool operator==(const Carried&) const = default;
  };
  std::vector<Message> messages{};
  std::vector<Socket> sockets{};  // passed to Supervision::on_network in this order
  Carried carried{};
  bool operator==(const NetworkSpec&) const = default;
};

// An argument that the worker replaces by `word` when it could make the run's network.
struct NetworkWord {
  std::uint32_t at = 0;  // its index in argv; not 0
  std::string word{};
  bool operator==(const NetworkWord&) const = default;
};

struct LaunchSpec {
  std::vector<std::string> argv{};
  std::vector<std::string> env{};  // "NAME=value"
  std::variant<NoJailPlace, JailPlace, ConfinedPlace> place{};
  NetworkSpec network{};
  std::optional<UserIds> run_as{};  // if the owner is root: the tool's user outside the jail
  std::vector<ResourceLimit> limits{};
  std::vector<int> cgroup_procs_fds{};  // borrowed; the tool joins each before exec
  bool report_tree = false;             // ToolStarted::tree is wanted
  // For a wrapper whose `network` is optional: its option that cuts the network, and the one for a run that has
  // `network` after all. If that cannot be made, argv stays as it is.
  std::optional<NetworkWord> with_network{};
  // Borrowed; inherited from number wire::kFirstPassedFd on, by an OCI runtime from kFirstRuntimeFd on; everything else
  // is closed.
  std::vector<int> passed_fds{};
  wire::Stage fail_at_for_tests = wire::Stage::kNone;  // makes that step fail; it can only deny

  // For a tool that we start with these limits, not through a wrapper.
  void hold(HeldLimits held) {
    limits = std::move(held.rlimits);
    cgroup_procs_fds = std::move(held.cgroup_procs);
    report_tree = held.watch_memory;
  }
};

// The part of a jail that is built before there is a run for it: its network, and the first steps of its root; when
// `whole`, all steps, and its locks, unless the tool has to join a cgroup first. A jail that is not whole makes another
// network for a run that needs another.
struct JailShape {
  std::vector<RootOp> root_ops{};
  NetworkSpec network{};
  std::vector<std::string> landlock_writable{};
  std::string seccomp{};
  bool allow_speculation = false;
  bool joins_cgroups = false;
  bool whole = false;
  wire::Stage fail_at_for_tests = wire::Stage::kNone;

  [[nodiscard]] bool fits(const LaunchSpec& spec) const;
};

// One line for people and golden files: "bind  /usr  ro,nodev".
[[nodiscard]] std::string describe(const RootOp& op);

// Says whether a jailed tool's stdin comes with the request, or is the jail's own null device.
enum class StdinIs { kGiven, kNullDevice };

// The launch image for the helper, a function of its arguments alone. `built` is what the jail has already.
[[nodiscard]] std::string encode(const LaunchSpec& spec, const JailShape& built = {},
                                 StdinIs stdin_is = StdinIs::kGiven);
[[nodiscard]] std::string encode(const JailShape& shape);

}  // namespace sallyport::spawn
