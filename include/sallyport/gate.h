// The gate: the one object through which a program starts other programs.
//
//   std::unique_ptr<Gate> gate = SALLYPORT_TRY(Gate::open(GateConfig::from_environment("/src/theirs")));
//   ProcessResult head = SALLYPORT_TRY(run_allowlisted(*gate, {"git", "rev-parse", "HEAD"},
//                                            {.cwd = "/src/theirs", .timeout = 10s}));
//
// Thread-safe: any number of threads may call at once. No globals: two gates are independent. Destroying the gate kills
// and reaps everything it started (C10); a killed owner takes its children with it. The library searches for no
// configuration file, and only GateConfig::from_environment and default_workspace_dir() (workspace.h) read the
// environment; everything else comes from GateConfig.
//
// Errors a caller can act on (error.h): DisallowedSubprocessError, InvalidRequest and InvalidProbeName mean a wrong
// request, from open() a wrong GateConfig. PolicyError is every call's answer while the policy file cannot be used.
// ToolMissingError has the install hint; UntrustedToolError and ToolNotRunnable name a file that is there, and is not
// started. JailUnavailable and GuaranteeUnavailable say what this host lacks, SetupFailed the step that it refused.
// AuditFailed: the log could not take the record; JailDied: how the tool ended is unknown. Only run_allowlisted and
// run_external_cli return ProbeTimeoutError (C9), CancelledError (C10) and LimitExceededError; run() reports these as
// outcomes. The rules and their tests: docs/contract.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sallyport/allow_unjailed.h"
#include "sallyport/allowlist.h"
#include "sallyport/audit.h"
#include "sallyport/container.h"
#include "sallyport/event.h"
#include "sallyport/jail.h"
#include "sallyport/jail_port.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// The configuration of the operator's own npm, never of the analysed repo's. The npm tool itself gets none of these
// variables (C7).
struct OperatorNpm {
  std::filesystem::path npmrc{};  // NPM_CONFIG_USERCONFIG; empty: .npmrc in the HOME of GateConfig::base_env
  std::string registry{};         // NPM_CONFIG_REGISTRY; empty: from the file, or from npm
  // Gives the value of ${NAME} in the file; without it, no variable is set.
  std::function<std::optional<std::string>(const std::string& name)> variable{};
};

struct GateConfig {
  // The analysed repo's root; every cwd lies inside it (C8), and the gate refuses a call that names another. Each call
  // checks that it exists, so that a refusal belongs to a call.
  std::filesystem::path repo{};
  Allowlist allowlist = Allowlist::builtin();
  // A policy file with the closed set to use instead (C3). open() reads it once. If it cannot be read, lies in the
  // repo, or another user could have written it, the gate refuses every call with PolicyError.
  std::optional<std::filesystem::path> policy{};
  std::vector<std::filesystem::path> search_path{};  // where to look for tools; unsafe entries are skipped
  std::vector<EnvVar> base_env{};                    // gives PATH HOME LANG LC_ALL and nothing else (C7)
  std::filesystem::path cache_dir{};                 // hashes by file identity; empty: kept in memory only
  std::size_t warm_jails = 0;                        // native jails to keep ready for the next runs; at most 64
  EventSink* events = nullptr;                       // borrowed; must outlive the gate
  AuditSink* audit = nullptr;                        // borrowed; must outlive the gate. Null: no call is recorded (C33)
  // The job to which this gate's calls belong, in their records: 32 hex digits, unique to the job. Empty: no job.
  std::string job{};
  // Jails of the embedding program, below the gate like the built-in ones, so all of the gate's rules apply.
  std::vector<Jail*> own_jails{};  // borrowed; must outlive the gate
  ContainerOptions container{};    // for the container jail, which needs an image
  OperatorNpm npm{};               // for calls that allow the operator's registry
  // The jails that kAuto tries, in this order.
  std::vector<JailKind> auto_jails{JailKind::kNative, JailKind::kBwrap, JailKind::kLandlock};

  // For the usual program: tools from this process's PATH, its HOME, LANG and LC_ALL for children, hashes under the user's
  // cache directory, npm's own variables for `npm`; no jails kept ready, no events. It reads the environment, and `npm.variable` does so again at
  // each call with `registry_auth`: no other thread may change that meanwhile.
  [[nodiscard]] static GateConfig from_environment(std::filesystem::path repo);
};

// A JailedSubprocessResult whose outcome is Completed, in the same words. What only a run that writes the repo can leave behind
// (git_findings, persistence) is not here: the two functions below never ask for one.
struct ProcessResult {
  std::variant<ExitCode, Signal> fate{};
  CapturedStream stdout_stream{};
  CapturedStream stderr_stream{};
  std::chrono::microseconds duration{};
  Usage usage{};
  Receipt receipt{};
  std::vector<Denial> denials{};  // hosts that were refused, though the tool then ended by itself
  std::string audit_run{};
  std::optional<SandboxedPath> scratch{};
};

// The options of the two functions have the contract's words: `timeout`, `max_output` and `memory` are wall, output and memory of
// Limits. The rest are fields of JailedSubprocessSpec by the same names.
struct AllowlistedOptions {
  std::filesystem::path cwd{};          // mandatory
  std::chrono::milliseconds timeout{};  // mandatory
  std::vector<EnvVar> env_extras{};
  StdinSource stdin_source{};
  ByteCount max_output = kDefaultMaxOutput;
  std::vector<Guarantee> required{};
  std::optional<AllowUnjailed> allow_unjailed{};  // for node, strace and the others that run the repo's code
};

struct ExternalCliOptions {
  std::filesystem::path cwd{};          // mandatory
  std::chrono::milliseconds timeout{};  // mandatory
  std::vector<std::string> allowed_egress{};
  ByteCount max_output = kDefaultMaxOutput;
  std::optional<ByteCount> memory{};
  std::vector<std::filesystem::path> extra_read_only{};  // the caller's rules and configuration, outside the repo
  std::vector<Guarantee> required{};                     // listing any forbids the degraded mode of C17
};

// Everything that a call would use. No tool is started, and nothing is written. Two answers only another program has, so it is
// started to ask: the operator's npm, for allow_registry and registry_auth, unless OperatorNpm names the registry; and the client of
// the container jail's engine, about the image.
struct Explanation {
  // Its environment is what the jail gives the tool (a HOME of its own), with one exception: for git in a repo whose
  // configuration could start programs, a run adds overrides (ADR 0026). Explain starts no git to read that.
  Plan plan{};
  std::string plan_digest{};  // the same as in a run's receipt: over the plan without the jail's own variables
  JailKind jail{""};  // the jail to use; for kAuto judged by the host's sysctls, since only a start really tries
  Confinement confinement = Confinement::kJailed;  // that jail's
  std::vector<Established> would_establish{};
  std::vector<std::string> rendered{};  // what the jail would do, one step per line
  ExecutableIdentity binary{};
  std::vector<BinaryIdentity> interpreters{};
};

// A jail that a gate has, as a caller may offer it to people.
struct JailOffer {
  JailKind kind;
  Confinement confinement = Confinement::kJailed;
  bool starts_slowly = false;            // half a minute
  std::vector<Guarantee> never_gives{};  // a call in it that requires one of these is refused
};

class Gate {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Gate>> open(GateConfig config);
  virtual ~Gate() = default;

  // A whole call with its closed outcome; the two functions below are narrower forms of it.
  [[nodiscard]] virtual Result<JailedSubprocessResult> run(const JailedSubprocessSpec& spec, JailKind jail,
                                                           std::stop_token stop) = 0;
  [[nodiscard]] virtual Result<Explanation> explain(const JailedSubprocessSpec& spec, JailKind jail) = 0;
  // With warm_jails: builds native jails now for runs like this one (same repo, paths, hosts and disk limit; any tool of
  // the system's directories, any arguments). Without this call, the second of two such runs in a row builds them.
  [[nodiscard]] virtual Status warm_up(const JailedSubprocessSpec& spec) = 0;
  [[nodiscard]] virtual WarmCounts warm_counts() = 0;
  // For a job that cannot make its first call (its report has no place): records a refusal, like the gate's own refusals. Returns
  // the error to report: `why`, or the log's own error when the log must take the record and cannot.
  [[nodiscard]] virtual Error refuse(const Error& why) = 0;
  [[nodiscard]] virtual const GateConfig& config() const = 0;
  // Those that kAuto tries, in its order, then the others. Only a run shows whether one works here.
  [[nodiscard]] virtual std::vector<JailOffer> jails() const = 0;
};

// Starts an allowlisted tool directly, without a jail: for tools that are their own isolation (docker) or trusted
// input. Timeout and cancel are ProbeTimeoutError and CancelledError; a non-zero exit is a ProcessResult.
[[nodiscard]] Result<ProcessResult> run_allowlisted(Gate& gate, std::vector<std::string> argv,
                                                    AllowlistedOptions options, std::stop_token stop = {});

// Starts an allowlisted scanner behind the best jail the host has (C12–C18). The environment cannot be extended.
// The same, with every outcome as its own alternative: sallyport/external_cli.h.
[[nodiscard]] Result<ProcessResult> run_external_cli(Gate& gate, std::string_view probe, std::vector<std::string> argv,
                                                     ExternalCliOptions options, std::stop_token stop = {});

}  // namespace sallyport
