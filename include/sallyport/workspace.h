// A workspace: a directory, usually a repo, that runs can write while the host's own stays unchanged (C37). Runs with a
// workspace see its merged view at the directory's own path, with what earlier runs wrote there. Afterwards the owner
// reads what changed and what of it would run later outside the jail, commits what it chooses, and discards the rest.
//
//   std::unique_ptr<Workspace> work = SALLYPORT_TRY(Workspace::open({.repo = repo, .state_dir = state}));
//   JailedSubprocessSpec spec{.argv = {"npm", "ci"}, .cwd = repo, .workspace = work.get(), .limits = {.wall = 5min}};
//   JailedSubprocessResult installed = SALLYPORT_TRY(jail.run(spec));
//   spec.argv = {"npm", "test"};
//   JailedSubprocessResult tested = SALLYPORT_TRY(jail.run(spec));
//   WorkspaceDiff changes = SALLYPORT_TRY(work->diff());
//   CommitReport done = SALLYPORT_TRY(work->commit({.patterns = {"package-lock.json"}}));
//                                       // the destructor removes an anonymous one
//
// How: overlayfs, mounted inside the jail by its own init, with the directory as lower layer; or a private copy if a
// jail cannot mount one (bwrap) or the file system of `state_dir` cannot hold an upper layer. A run's receipt says
// which, as the mechanism of fs.repo_untouched (docs/workspaces.md).
//
// Errors a caller can act on: InvalidRequest (name, quota or state directory; another repo; in use), SystemError with
// the errno of a failed read or write, GuaranteeUnavailable from a run whose jail cannot show a workspace. The rule:
// docs/contract.md, C37.
//
// Threads: one at a time for each object. While a workspace is in use, a second run or discard() is refused, in this
// process or another. Do not write the lower directory during a run: then it is undefined what that run sees of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/event.h"
#include "sallyport/limits.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

inline constexpr ByteCount kDefaultWorkspaceQuota = mebibytes(4096);

enum class WorkspaceMechanism : std::uint8_t {
  kAuto,     // an overlay if the state directory can hold one; the first run makes a copy if its jail needs one
  kOverlay,  // overlayfs or nothing
  kCopy,     // a private copy from the start; works in every jail
};

[[nodiscard]] std::string_view name_of(WorkspaceMechanism mechanism);

struct WorkspaceOptions {
  // The directory below; it must exist. Shown at this path, resolved, inside the jail.
  std::filesystem::path repo{};
  // Holds the private layers. Made with mode 0700 if missing; refused when others could write it, or when it lies
  // inside `repo`. Any number of workspaces may share one. See default_workspace_dir().
  std::filesystem::path state_dir{};
  // 1 to 64 of [A-Za-z0-9._-], starting with a letter or digit: kept until discard(), reopened by the same name and repo.
  // Empty: anonymous, removed by the destructor, or by the next open() after a SIGKILL.
  std::string name{};
  // Bounds everything that all runs write together; a reopened workspace keeps its quota unless one is given. A run
  // that exceeds it ends as DiskQuotaExceeded.
  std::optional<ByteCount> quota{};
  WorkspaceMechanism mechanism = WorkspaceMechanism::kAuto;
  EventSink* events = nullptr;  // borrowed: event_name::kWorkspaceCopyProgress while a large copy is made
};

// $XDG_STATE_HOME/sallyport/workspaces, or ~/.local/state/sallyport/workspaces. Reads the environment, as
// GateConfig::from_environment does and nothing else of the library; empty when neither is set.
[[nodiscard]] std::filesystem::path default_workspace_dir();

enum class FileType : std::uint8_t { kNone, kFile, kDirectory, kSymlink, kFifo, kSocket, kDevice };
[[nodiscard]] std::string_view name_of(FileType type);

enum class ChangeKind : std::uint8_t {
  kDeleted,
  kCreated,
  kChanged,   // content, or a symlink's text
  kReplaced,  // another type: a symlink where a file was
  kMetadata,  // mode or extended attributes only
};
[[nodiscard]] std::string_view name_of(ChangeKind kind);

// One path of a workspace that differs from the directory below. Times do not count. A file that was rewritten with the
// same content is no change.
struct Change {
  // Relative to the repo, '/' between components, raw bytes from the file system: anything but NUL. Escape it before
  // you print it.
  std::string path{};
  ChangeKind kind{};
  FileType before = FileType::kNone;
  FileType after = FileType::kNone;
  std::uint32_t mode_before = 0;  // permission, set-id and sticky bits
  std::uint32_t mode_after = 0;
  std::uint64_t size_before = 0;
  std::uint64_t size_after = 0;
  bool xattrs_changed = false;
  std::string link_before{};  // a symlink's text
  std::string link_after{};
};

enum class PersistenceSeverity : std::uint8_t {
  kLow,     // runs if a person starts it: a new executable
  kMedium,  // runs with an everyday command or on another machine: package scripts, Makefile, CI
  kHigh,    // runs unasked, or removes a boundary: git hooks, direnv, agent configuration, set-id bits
};
[[nodiscard]] std::string_view name_of(PersistenceSeverity severity);

// A change that would run later, outside any jail, or lead a reader to something that does.
struct PersistenceFinding {
  std::string path{};    // as in Change
  std::string rule{};    // stable: "git-hook", "npm-script", … (docs/workspaces.md)
  std::string reason{};  // one line; quoted text is escaped
  PersistenceSeverity severity = PersistenceSeverity::kLow;
};

struct WorkspaceDiff {
  std::vector<Change> changes{};  // every one; deletions first, then by path
  std::vector<PersistenceFinding> findings{};
  std::uint64_t bytes_used = 0;  // of the quota
};

// Whether paths with a PersistenceFinding are committed.
enum class Flagged : std::uint8_t { kLeftOut, kCommitted };
enum class CommitMode : std::uint8_t { kWrite, kDryRun };

struct CommitRequest {
  // Globs over whole paths: "*" and "?" stay within one component, "**" spans any number, "dir/" or "dir" matches
  // everything below. A pattern that matches no change is an error, so that a typo does not look like success.
  std::vector<std::string> patterns{};
  bool all = false;  // every change; then no patterns
  Flagged flagged = Flagged::kLeftOut;
  CommitMode mode = CommitMode::kWrite;
};

enum class CommitAction : std::uint8_t {
  kWritten,      // created or replaced, atomically
  kDeleted,      //
  kLeftFlagged,  // has a finding, and the request leaves out such paths
  kRefused,      // never committed: a device, socket, FIFO, set-id bit, a name that cannot be reached safely
  kConflict,     // the host's file changed since the workspace was made
};
[[nodiscard]] std::string_view name_of(CommitAction action);

struct CommitStep {
  std::string path{};
  CommitAction action{};
  std::string why{};  // of the last three
};

struct CommitReport {
  std::vector<CommitStep> steps{};  // one per selected path, in the order of execution
  // False for a dry run, and when there was a conflict: then nothing at all was written.
  bool written = false;
  [[nodiscard]] bool has(CommitAction action) const;
};

// A named or stale workspace, for lists. `repo` and `quota` are those of its creation.
struct WorkspaceInfo {
  std::string name{};  // empty: anonymous
  std::string id{};    // the directory's name below state_dir
  std::filesystem::path repo{};
  WorkspaceMechanism mechanism{};
  ByteCount quota{};
  bool in_use = false;  // locked by a living owner
  bool stale = false;   // anonymous, and its owner is gone: the next open() removes it
  bool broken = false;  // its description cannot be read; only discard helps
};

class Workspace {
 public:
  // Makes one, or reopens one by its name; first removes stale anonymous ones. The object holds the lock.
  // InvalidRequest: a name that is malformed, in use, or belongs to another repo; a state directory that is not safe.
  [[nodiscard]] static Result<std::unique_ptr<Workspace>> open(WorkspaceOptions options);
  [[nodiscard]] static Result<std::vector<WorkspaceInfo>> list(const std::filesystem::path& state_dir);
  // Discards by name, or by id if it has no name; works on a broken one too. Refused while it is in use.
  [[nodiscard]] static Status discard(const std::filesystem::path& state_dir, const std::string& name_or_id);

  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  [[nodiscard]] const std::filesystem::path& repo() const;  // canonical
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] ByteCount quota() const;
  [[nodiscard]] WorkspaceMechanism mechanism() const;  // kAuto until the first run has decided

  // The cost grows with the number of changes (overlay), or of files in the directory (copy).
  [[nodiscard]] Result<WorkspaceDiff> diff();
  // A unified patch of one change, for `git apply`; one line instead for a file that is no text or too large.
  [[nodiscard]] Result<std::string> patch(const Change& change);
  [[nodiscard]] Result<CommitReport> commit(const CommitRequest& request);
  // Removes it from disk; call nothing else afterwards.
  [[nodiscard]] Status discard();

  // Reads the merged view from outside like SandboxedPath: follows no symlink (ELOOP), opens plain files only. Not
  // during a run.
  [[nodiscard]] Result<UniqueFd> open_file(const std::filesystem::path& relative) const;
  [[nodiscard]] Result<std::string> read_file(const std::filesystem::path& relative, ByteCount cap) const;
  // kNone: nothing is there.
  [[nodiscard]] Result<FileType> type_of(const std::filesystem::path& relative) const;
  // The names in one of its directories, sorted.
  [[nodiscard]] Result<std::vector<std::string>> list_directory(const std::filesystem::path& relative) const;

  // For the gate, which shows it in a jail. Only src/workspace says what an Impl is: outside there is nothing to do with one.
  class Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  explicit Workspace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sallyport
