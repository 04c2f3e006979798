// The port below the gate: what a jail implements. The gate decides (admission, hardening, paths, limits), asks the
// jail to stage the plan, and checks required guarantees against what the jail would establish. Then the jail starts
// the run, and the gate supervises it, judges it, and writes the receipt from what the run reported. A jail never
// decides what may run.
//
// A program that embeds the gate can bring its own jail:
//
//   MyJail mine;
//   GateConfig config = GateConfig::from_environment(repo);
//   config.own_jails = {&mine};                                // borrowed; must outlive the gate
//   std::unique_ptr<Gate> gate = SALLYPORT_TRY(Gate::open(std::move(config)));
//   JailAdapter jail(*gate, JailKind("mine"));                 // "auto" never takes it unless auto_jails names it
//
// Errors of a jail on which the gate acts: JailUnavailable (kAuto then tries the next), GuaranteeUnavailable,
// InvalidRequest for what it cannot do, SetupFailed for a step that failed. The rules: docs/contract.md, C19-C22, C26.
//
// CONTRIBUTING.md, "Add a jail", has a whole one. Every jail passes the contract suite in
// tests/gate/jail_contract_test.cc.
//
// Threads: a Jail is used by many calls at once, so its methods must be thread-safe. A StagedRun and its LiveRun belong
// to one call and are used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sallyport/event_name.h"
#include "sallyport/jail.h"
#include "sallyport/jail_kind.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "sallyport/result.h"
#include "sallyport/setup_stage.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

// For the jails inside this source tree, which share one way to build a root and a network. No public header says what they are;
// a jail from elsewhere builds both from the Plan itself.
struct HostView;
namespace spawn {
struct NetworkSpec;
}

// kExplain reads, but makes nothing and starts no tool.
enum class Purpose { kRun, kExplain };

// Whether a jail can show a private version of a directory in its place (Plan::layers): not at all, a copy, or by overlayfs.
enum class LayerSupport { kNone, kBind, kOverlay };

// Whether the tool is confined from the caller's files and processes at all.
enum class Confinement { kNone, kJailed };

// The program of a run, found and pinned. Run as { argv0, argv_prefix…, the plan's arguments… }.
struct Executable {
  ExecutableIdentity identity{};               // of the tool itself, even if it is a script
  std::vector<BinaryIdentity> interpreters{};  // set for a #! script of the host
  std::string argv0{};
  std::vector<std::string> argv_prefix{};
  // For a host's file: the executed file, the tool or its interpreter, opened when it was checked.
  UniqueFd file{};
  std::string exec_path{};

  // The executed file, if it is one of the host's.
  [[nodiscard]] const BinaryIdentity* executed() const {
    return interpreters.empty() ? std::get_if<BinaryIdentity>(&identity) : &interpreters.front();
  }
  [[nodiscard]] std::vector<std::string> argv_for(const Plan& plan) const {
    std::vector<std::string> argv = {argv0};
    argv.insert(argv.end(), argv_prefix.begin(), argv_prefix.end());
    if (plan.argv.size() > 1) argv.insert(argv.end(), plan.argv.begin() + 1, plan.argv.end());
    return argv;
  }
};

// As setrlimit(2) takes it.
struct ResourceLimit {
  std::uint32_t resource = 0;
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

// What the tool must be started with for the plan's limits to bind it.
struct HeldLimits {
  std::vector<ResourceLimit> rlimits{};
  std::vector<int> cgroup_procs{};  // borrowed; the tool writes "0" to each before exec
  bool watch_memory = false;        // no cgroup: ToolStarted::tree must be set, and the gate measures
};

struct LimitsWanted {
  std::uint32_t own_processes = 0;  // the jail's own in the run's cgroup, besides the tool's
  bool counted_apart = true;        // no host user's processes, so RLIMIT_NPROC counts only the tool's
};

// What the gate does for a jail during one call.
class CallHost {
 public:
  virtual ~CallHost() = default;
  // The plan's tool among the host's programs, by the gate's rules of trust. The same value each time.
  [[nodiscard]] virtual Result<std::shared_ptr<const Executable>> pin_tool() = 0;
  // A wrapper from the built-in set or the jails' own table (ADR 0085), by the same rules (C4).
  [[nodiscard]] virtual Result<Executable> pin_wrapper(std::string_view name) = 0;
  // The plan's memory, process and processor limits, by the strongest means that this host has. The gate establishes
  // them, so the jail must not list them. A jail that does not call this must enforce and list them itself.
  [[nodiscard]] virtual Result<HeldLimits> hold_limits(const LimitsWanted& wanted) = 0;
  // The file system that the tool is to see, and the network that its egress needs, for jails inside this source tree. They live as
  // long as the call.
  [[nodiscard]] virtual Result<const HostView*> view() = 0;
  [[nodiscard]] virtual Result<const spawn::NetworkSpec*> network() = 0;
};

struct StageRequest {
  const Plan& plan;
  const Executable& executable;
  int cwd = -1;  // borrowed: the directory that was checked
  Purpose purpose = Purpose::kRun;
  bool another_follows = false;  // the same call will start one more run after this one
  CallHost& host;
};

// The tool's ends, borrowed until the run reports ToolStarted or StartFailed. `in` is negative for the null device of a
// jail that has its own.
struct ToolStreams {
  int in = -1;
  int out = -1;
  int err = -1;
};

// What a started run reports: only facts, from which the gate makes messages and the receipt.
struct NothingNew {};
// The sockets of CallHost::network() are open, in their order. Before the tool starts.
struct NetworkOpened {
  std::vector<UniqueFd> sockets{};
  bool refusals_shown = false;  // the last socket reports what the kernel refused
  // Instead of those sockets there is one, which brings each connection that the tool asked for; only jails inside this
  // source tree know how.
  bool connections_handed = false;
  bool loopback_only = false;  // and the tool can reach only loopback addresses
};
// Which optional locks this run has.
struct RunFacts {
  bool landlocked = false;
  bool ports_redirected = false;
  bool connections_carried =
      false;                        // our init in the jail accepts the tool's connections and carries them to the owner
  std::optional<UserIds> run_as{};  // the tool's user outside the jail, when Plan::run_as asked for one
};
struct ToolStarted {
  RunFacts facts{};
  UniqueFd scratch{};  // of the scratch mount, whose use the gate watches; may be empty
  // A pidfd of the run's root process, if HeldLimits::watch_memory is set.
  UniqueFd tree{};
};
// The tool never ran.
struct StartFailed {
  SetupStage stage = SetupStage::kJail;
  int error_number = 0;
  bool host_cannot = false;     // this host lacks what the jail needs: another jail may work
  bool said_on_stderr = false;  // the reason is the first line on the stream `err`
};
// What only the init inside can know, in a machine with its own kernel or in a container whose engine enforces the
// limits.
struct GuestFacts {
  std::uint64_t oom_kills = 0;  // by its own count
  std::uint64_t scratch_bytes = 0;
  std::uint64_t scratch_files = 0;
  bool scratch_full = false;  // at some moment
};
struct ToolEnded {
  int wait_status = 0;        // as wait(2) gives it
  bool fate_unknown = false;  // the status is that of the jail's own process; the tool's is unknown
  Usage usage{};
  bool is_last = false;  // nothing of the run is alive, and no report follows
  std::optional<GuestFacts> of_guest{};
};
// Nothing of the run is alive, and no report follows.
struct RunGone {};
using RunReport = std::variant<NothingNew, NetworkOpened, ToolStarted, StartFailed, ToolEnded, RunGone>;

// The steps that stop a run, gentlest first. The gate may ask for each step at any time, in any order.
enum class StopStep {
  kTerminate,  // SIGTERM to everything the tool started
  kKill,       // SIGKILL to everything; ToolEnded follows with the usage
  kForce,      // the reporting process does not answer: kill it too
  kAbandon,    // nothing helped: end what serves the run; return when nothing can be alive any more
};

// The destructor kills what is still alive.
class LiveRun {
 public:
  virtual ~LiveRun() = default;
  // Readable when next() has a report. May change after each next().
  [[nodiscard]] virtual int event_fd() const = 0;
  // Never blocks. Returns one report per call. An error ends the run.
  [[nodiscard]] virtual Result<RunReport> next() = 0;
  virtual void stop(StopStep step) = 0;
};

// A plan made ready for one jail. Nothing has been started.
class StagedRun {
 public:
  virtual ~StagedRun() = default;
  // One step per line, for `explain`.
  [[nodiscard]] virtual std::vector<std::string> describe() const { return {}; }
  // All variables that the tool gets, in any order, for the plan that was staged: a jail replaces HOME by a directory of its own.
  // Pass them to the tool from this very function, so that `explain` shows what a run gives.
  [[nodiscard]] virtual std::vector<EnvVar> environment(const Plan& plan) const { return plan.env; }
  // Excludes limits that CallHost::hold_limits() established.
  [[nodiscard]] virtual std::vector<Established> would_establish() const = 0;
  // The guarantees of a run that reported these facts.
  [[nodiscard]] virtual std::vector<Established> established(const RunFacts&) const { return would_establish(); }
  // True: start() accepts a negative ToolStreams::in.
  [[nodiscard]] virtual bool has_null_device() const { return false; }
  // Call once. This object outlives the run.
  [[nodiscard]] virtual Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) = 0;
  // Builds jails ahead for runs like this one, if the jail can.
  [[nodiscard]] virtual Status warm_up() { return {}; }
};

// How runs got their jails, for an owner that keeps some ready.
struct WarmCounts {
  std::uint64_t warm = 0;     // used a jail that was ready, or nearly ready
  std::uint64_t cold = 0;     // needed a different jail
  std::uint64_t spoiled = 0;  // a ready jail was unsound, so a fresh one was built
};

class Jail {
 public:
  virtual ~Jail() = default;
  // Stable, lower case, at most JailKind::kLongest characters: callers choose it by this name, and receipts show it.
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] JailKind kind() const { return JailKind(name()); }
  [[nodiscard]] virtual Confinement confinement() const { return Confinement::kJailed; }
  // The gate refuses a call that needs more. A jail with kBind or more shows what CallHost::view() lists.
  [[nodiscard]] virtual LayerSupport layers() const { return LayerSupport::kNone; }
  // The event of each run in it (C18).
  [[nodiscard]] virtual std::string_view event_name() const { return event_name::kJailWrapped; }
  // Guarantees that this jail never gives, whatever it lists. When kAuto has to take a jail that never gives what its first one does,
  // an event reports that. For the jails of this library: `givers` of kGuarantees (sallyport/guarantee.h).
  [[nodiscard]] virtual std::span<const Guarantee> never_gives() const { return {}; }
  // The gate has admitted a call for this jail and will call stage(): start slow preparations now.
  virtual void expect_run() {}
  // An error when the host's sysctls show that it cannot work here. Starts nothing; only a start is certain.
  [[nodiscard]] virtual Status usable() { return {}; }
  // The file that the tool's name means here: the host's, or one of the jail's own image. Also asked to explain a call: a jail may
  // start a program that knows the image (the container jail asks its engine), and nothing else.
  [[nodiscard]] virtual Result<std::shared_ptr<const Executable>> resolve(const Plan&, CallHost& host) {
    return host.pin_tool();
  }
  // Refuses a plan that this jail cannot carry out.
  [[nodiscard]] virtual Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) = 0;
  [[nodiscard]] virtual WarmCounts warm_counts() { return {}; }
  // Whether a start takes so long (half a minute) that nobody should wait for one unasked: doctor tries it only by name.
  [[nodiscard]] virtual bool starts_slowly() const { return false; }
};

}  // namespace sallyport
