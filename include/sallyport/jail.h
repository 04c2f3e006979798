// SubprocessJail, the port (C19): one method, no retry, no state between runs. Callers hold the port, never one jail's
// adapter; swapping jails changes no caller.
//
//   Result<JailedSubprocessResult> r = jail.run({.argv = {"git", "log"}, .repo = repo, .cwd = repo,
//                                                .limits = {.wall = 30s}});
//
// An error means that the tool did not run, or that we do not know how it ended; the outcome says what happened to a
// tool that ran. A caller can act on: DisallowedSubprocessError, InvalidRequest, InvalidProbeName (ask for something
// else), PolicyError (correct the policy file), ToolMissingError (install it), UntrustedToolError (who could write that
// file?), ToolNotRunnable (a file that this kernel cannot execute), GuaranteeUnavailable and JailUnavailable (another
// jail, or this host's settings), SetupFailed (the step and errno say what this host refused), AuditFailed (the log needs
// space, or another place), SystemError (a call of ours failed; the next try may work). After an error with
// `tool_may_have_started`, as JailDied, another try may do the tool's work twice. The rules: docs/contract.md, C6-C11 and
// C19-C26.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sallyport/allow_package_scripts.h"
#include "sallyport/allow_unjailed.h"
#include "sallyport/denial.h"
#include "sallyport/limits.h"
#include "sallyport/outcome.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "sallyport/result.h"
#include "sallyport/sandboxed_path.h"
#include "sallyport/workspace.h"

namespace sallyport {

// stdin is the null device unless the caller says otherwise (C6).
struct NullStdin {};
struct StdinBytes {
  std::string bytes{};
};
// The thread that runs the call copies `fd`, until its end, to the tool through a pipe. It may read more than the tool
// takes. The tool never holds the descriptor, so it cannot change the file behind it.
struct StdinFd {
  int fd = -1;  // borrowed for the call; open for reading; not a directory
};
// Weakens every jail: the tool holds this very descriptor. It can truncate, lock or chmod the file, change a terminal's
// settings, and reopen either through /proc. For a tool that needs a terminal; never for a file.
struct RawStdinFd {
  int fd = -1;  // borrowed for the call; neither a directory nor O_PATH, which would bypass the jail
};
using StdinSource = std::variant<NullStdin, StdinBytes, StdinFd, RawStdinFd>;

enum class Stream { kStdout, kStderr };

// One pipe keeps the order of the tool's writes to both streams; everything is captured, and passed to the tap, as
// stdout.
enum class OutputPipes { kTwo, kOne };

// Called with each piece of output as it arrives, on the thread that runs the call. The captured result is unaffected.
using OutputTap = std::function<void(Stream, std::string_view)>;

inline constexpr std::string_view kJailCaBundle = "/etc/sallyport-ca.pem";

struct JailedSubprocessSpec {
  std::vector<std::string> argv{};
  std::filesystem::path repo{};  // empty: the gate's; any other repo is refused
  std::filesystem::path cwd{};   // mandatory, inside the repo (C8)
  RepoAccess repo_access = RepoAccess::kReadOnly;
  GitAccess git_access = GitAccess::kProtected;
  // Borrowed for the call: the run sees this workspace instead of the repo, at the repo's path, writable; the host's
  // repo stays unchanged. It must have been opened over `repo`.
  Workspace* workspace = nullptr;
  // Instead: one that the gate opens over the call's repo once the call is admitted, and closes after it. It has a name, and no
  // `repo` of its own; without `events` it has the gate's.
  std::optional<WorkspaceOptions> named_workspace{};
  // Also borrowed: workspaces over other directories (a cache), each at its directory's path.
  std::vector<Workspace*> overlays{};
  std::vector<std::filesystem::path> extra_read_only{};
  std::vector<std::filesystem::path> extra_read_write{};
  std::vector<std::filesystem::path>
      hidden{};  // below something shown; the run sees an empty file or directory instead
  std::vector<std::filesystem::path> no_exec{};  // below something shown; the run cannot execute programs from there
  std::vector<EnvVar> env_extras{};              // LD_*, NODE_OPTIONS and similar are refused (C7)
  StdinSource stdin_source{};
  std::vector<HostRule> allowed_hosts{};      // if this and the next are empty: no network (C24)
  std::vector<std::string> allowed_egress{};  // the same as text; the gate refuses a call with a malformed rule
  // Also allows the registry that the caller's own npm uses (C24): the gate asks npm first, never the repo.
  bool allow_registry = false;
  // Also uses that registry's credentials from the operator's own .npmrc (GateConfig::npm): the owner adds them to the
  // tool's requests, and the tool never sees them. Implies allow_registry.
  bool registry_auth = false;
  // The same for a registry whose host is allowed, with the caller's credentials. The tool reaches it over plain HTTP,
  // at port 80 for https, else at its own port.
  std::optional<RegistryCredentials> registry_credentials{};
  // The operator's proxy, on the way to allowed hosts. The gate reads the text, and refuses a call whose text is wrong.
  std::optional<UpstreamProxyText> via_proxy{};
  // A file of further certificates (PEM) for the tool's TLS to trust, such as those of a company's proxy. A jail shows
  // the system's together with these as kJailCaBundle, and sets the variables by which tools find such a file, unless
  // the caller has set them. Needs a jail.
  std::optional<std::filesystem::path> extra_ca{};
  bool strict_network = false;  // the first refused connection ends the run
  int stop_fd = -1;             // borrowed; cancels when readable, for owners without a stop_token
  Limits limits{};
  std::chrono::milliseconds grace =
      StopLadder{}.grace;                     // between SIGTERM and SIGKILL; at most a quarter of limits.wall
  std::optional<std::uint32_t> open_files{};  // of each process
  std::vector<Guarantee> required{};
  std::optional<std::string> probe{};  // a name for events and records; checked before anything else (C12)
  // What the caller must have before its tool starts, a place for the result. Asked once the call is admitted, before anything of
  // it is made or started; an error is a refusal of the call, recorded as the gate's own are (C36). Explaining does not ask.
  std::function<Status()> before_start{};
  OutputPipes output_pipes = OutputPipes::kTwo;
  OutputTap tap{};
  // For a tap that must not wait for its own reader: a descriptor that becomes writable when the tap can take more of
  // this stream, or -1 when it can now. Until then the tool has to wait, as for a full pipe. Called on the thread that
  // runs the call.
  std::function<int(Stream)> tap_waits_for{};
  std::optional<AllowUnjailed> allow_unjailed{};  // without it, a tool that runs the repo's code needs a jail
  std::optional<AllowPackageScripts> allow_package_scripts{};  // without it, npm runs no lifecycle script (C25)
  Speculation speculation = Speculation::kForbidden;
};

struct CapturedStream {
  std::string bytes{};  // at most the cap; see C13 for the exact form when truncated
  bool truncated = false;
  std::uint64_t total_bytes = 0;  // as written by the child
};

struct Usage {
  std::chrono::microseconds user{};
  std::chrono::microseconds system{};
  std::uint64_t peak_rss_bytes = 0;
};

// Something that the run left in a writable place and that git would have executed later, outside; and what the gate
// did about it.
struct GitFinding {
  std::string path{};    // absolute, on the host
  std::string what{};    // "a hook", "configuration (core.fsmonitor)", …
  std::string action{};  // "removed", "set aside as NAME", …
};

struct JailedSubprocessResult {
  Outcome outcome{};
  CapturedStream stdout_stream{};
  CapturedStream stderr_stream{};
  std::chrono::microseconds duration{};
  Usage usage{};
  Receipt receipt{};
  std::vector<Denial> denials{};
  std::vector<GitFinding> git_findings{};
  std::string audit_run{};  // the run's id in the audit log; empty: it was not recorded
  // For a run with a writable repo and no workspace: what it left there that would run later, outside. Paths are
  // relative to the repo. For a workspace, call Workspace::diff().
  std::vector<PersistenceFinding> persistence{};
  std::string persistence_incomplete{};  // why `persistence` may lack some; empty: it lists all
  // The run's scratch directory, for typed read-back; empty when the jail had none. Its files disappear with this
  // value.
  std::optional<SandboxedPath> scratch{};
};

class SubprocessJail {
 public:
  virtual ~SubprocessJail() = default;
  // Thread-safe. Blocks until the tool and everything it started is gone. `stop` cancels.
  [[nodiscard]] virtual Result<JailedSubprocessResult> run(const JailedSubprocessSpec& spec, std::stop_token stop) = 0;
  [[nodiscard]] Result<JailedSubprocessResult> run(const JailedSubprocessSpec& spec) { return run(spec, {}); }
};

}  // namespace sallyport
