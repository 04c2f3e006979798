#include "workspace/commit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/errors.h"
#include "core/text/glob.h"
#include "core/text/printable.h"
#include "os/file.h"
#include "os/openat2.h"

namespace sallyport::workspace {
namespace {

constexpr const char* kCommitted = "committed";
constexpr ByteCount kLargestCommitted = mebibytes(1024);
constexpr std::uint32_t kSetId = 06000;

Result<std::vector<const Change*>> selected(const WorkspaceDiff& diff, const CommitRequest& request) {
  if (request.all == !request.patterns.empty()) {
    return fail(invalid_request("commit", request.all ? "all and patterns exclude each other" : "nothing is selected",
                                "name paths or patterns, or take all"));
  }
  std::vector<const Change*> chosen;
  std::vector<bool> used(request.patterns.size(), false);
  for (const Change& change : diff.changes) {
    bool wanted = request.all;
    for (std::size_t i = 0; i < request.patterns.size(); ++i) {
      if (!matches_path(request.patterns[i], change.path)) continue;
      wanted = true;
      used[i] = true;
    }
    if (wanted) chosen.push_back(&change);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    return fail(invalid_request("commit", fmt::format("no change matches '{}'", printable(request.patterns[i])),
                                "the diff lists the paths"));
  }
  return chosen;
}

// True for a path with a finding, or below such a path.
class FlaggedPaths {
 public:
  explicit FlaggedPaths(const WorkspaceDiff& diff) {
    for (const PersistenceFinding& finding : diff.findings) rules_.try_emplace(finding.path, finding.rule);
  }
  [[nodiscard]] std::optional<std::string> rule_of(const std::string& path) const {
    for (std::size_t end = path.size(); end != std::string::npos && end > 0; end = path.rfind('/', end - 1)) {
      const auto found = rules_.find(path.substr(0, end));
      if (found != rules_.end()) return found->second;
    }
    return std::nullopt;
  }

 private:
  std::unordered_map<std::string, std::string> rules_;
};

std::string never_committed(const Change& change) {
  if (change.path.size() >= PATH_MAX) return "its path is too long";
  if (change.kind == ChangeKind::kDeleted) return {};
  if (change.after == FileType::kFifo || change.after == FileType::kSocket || change.after == FileType::kDevice) {
    return fmt::format("it is a {}", name_of(change.after));
  }
  if ((change.mode_after & kSetId) != 0) return "it has a set-id bit";
  return {};
}

class Committer {
 public:
  Committer(const CommitInputs& inputs, Committed committed) : in_(inputs), committed_(std::move(committed)) {}

  // Why the host's file differs from the one that the workspace was made over; empty: it does not, or commit wrote it.
  [[nodiscard]] Result<std::string> conflict(const Change& change) const {
    const std::optional<struct stat> now = TRY(in_.host.look(change.path));
    if (!now) {
      const bool was_there = change.before != FileType::kNone || TRY(was_copied_up(change));
      if (!was_there || change.kind == ChangeKind::kDeleted) return std::string();
      return std::string("it was deleted on the host since");
    }
    const Stood stood{.inode = now->st_ino, .ctime_ns = ctime_ns(*now)};
    const auto ours = committed_.find(change.path);
    if (ours != committed_.end() && ours->second == stood) return std::string();
    // For a directory only its own entry counts: its content is judged path by path.
    if (S_ISDIR(now->st_mode) && change.before == FileType::kDirectory) return std::string();
    const bool changed = in_.manifest != nullptr ? !is_as_copied(change.path, stood) : stood.ctime_ns > in_.made_ns;
    return std::string(changed ? "it changed on the host since" : "");
  }

  [[nodiscard]] Status apply(const Change& change) {
    const bool must_be_new = change.before == FileType::kNone && !committed_.contains(change.path);
    // Remove an entry of another type first; a rename replaces a file or a symlink.
    const bool in_the_way = change.before != FileType::kNone && change.before != change.after &&
                            (change.before == FileType::kDirectory || change.after == FileType::kDirectory);
    if (change.kind == ChangeKind::kDeleted || in_the_way) TRY(in_.host.remove(change.path));
    if (change.kind == ChangeKind::kDeleted) return {};
    if (change.after == FileType::kDirectory) {
      TRY(in_.host.put_directory(change.path, change.mode_after));
    } else if (change.after == FileType::kSymlink) {
      TRY(in_.host.put_symlink(change.path, change.link_after, must_be_new));
    } else {
      const UniqueFd content = TRY(in_.view.open_file(change.path));
      TRY(in_.host.put_file(change.path, content.get(), change.mode_after, must_be_new));
    }
    const std::optional<struct stat> now = TRY(in_.host.look(change.path));
    if (!now) return {};
    return note_committed(in_.workspace_directory, change.path, {.inode = now->st_ino, .ctime_ns = ctime_ns(*now)});
  }

 private:
  [[nodiscard]] bool is_as_copied(const std::string& path, const Stood& stood) const {
    const auto made = in_.manifest->find(path);
    return made != in_.manifest->end() && made->second.host_inode == stood.inode &&
           made->second.host_ctime_ns == stood.ctime_ns;
  }

  // Overlayfs marks files that it copied up.
  [[nodiscard]] Result<bool> was_copied_up(const Change& change) const {
    if (in_.upper < 0 || change.after != FileType::kFile) return false;
    const Result<UniqueFd> fd = in_.view.open_file(change.path);
    if (!fd) return fail(fd.error());
    // A second name of a copied-up file has the mark, too, but never existed below.
    struct stat found{};
    if (::fstat(fd->get(), &found) != 0 || found.st_nlink > 1) return false;
    return ::fgetxattr(fd->get(), "user.overlay.origin", nullptr, 0) >= 0;
  }

  const CommitInputs& in_;
  Committed committed_;
};

// Deletions from the deepest up, then new entries from the top down.
void put_in_working_order(std::vector<const Change*>& changes) {
  const auto first_kept =
      std::ranges::stable_partition(changes, [](const Change* change) { return change->kind == ChangeKind::kDeleted; });
  std::ranges::sort(changes.begin(), first_kept.begin(),
                    [](const Change* a, const Change* b) { return a->path > b->path; });
  std::ranges::sort(first_kept.begin(), changes.end(),
                    [](const Change* a, const Change* b) { return a->path < b->path; });
}

}  // namespace

Result<Committed> read_committed(int workspace_directory) {
  Committed committed;
  const int fd = openat2_beneath(workspace_directory, kCommitted, O_RDONLY);
  if (fd == -ENOENT) return committed;
  if (fd < 0) return fail(system_error("open", kCommitted, -fd));
  const UniqueFd opened(fd);
  const std::string text = TRY(read_all(fd, kLargestCommitted, kCommitted));
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) break;  // truncated because its writer was killed: then that file is a conflict
    std::string_view record = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    Stood stood;
    const auto [after_inode, bad_inode] = std::from_chars(record.data(), record.data() + record.size(), stood.inode);
    if (bad_inode != std::errc() || *after_inode != ' ') continue;
    record.remove_prefix(static_cast<std::size_t>(after_inode - record.data()) + 1);
    const auto [after_time, bad_time] = std::from_chars(record.data(), record.data() + record.size(), stood.ctime_ns);
    if (bad_time != std::errc() || *after_time != ' ') continue;
    committed[std::string(record.substr(static_cast<std::size_t>(after_time - record.data()) + 1))] = stood;
  }
  return committed;
}

Status note_committed(int workspace_directory, const std::string& path, const Stood& stood) {
  const UniqueFd fd =
      TRY(open_path_at(workspace_directory, kCommitted, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600));
  return write_all(fd.get(), fmt::format("{} {} {}", stood.inode, stood.ctime_ns, path) + '\0', kCommitted);
}

Result<CommitReport> commit(const CommitInputs& inputs, const CommitRequest& request) {
  std::vector<const Change*> changes = TRY(selected(inputs.diff, request));
  put_in_working_order(changes);
  const FlaggedPaths flagged(inputs.diff);
  Committer committer(inputs, TRY(read_committed(inputs.workspace_directory)));
  CommitReport report;
  std::vector<const Change*> ready;
  for (const Change* const change : changes) {
    CommitStep step{.path = change->path,
                    .action = change->kind == ChangeKind::kDeleted ? CommitAction::kDeleted : CommitAction::kWritten};
    const std::optional<std::string> rule = flagged.rule_of(change->path);
    if (std::string never = never_committed(*change); !never.empty()) {
      step.action = CommitAction::kRefused;
      step.why = std::move(never);
    } else if (rule && request.flagged == Flagged::kLeftOut) {
      step.action = CommitAction::kLeftFlagged;
      step.why = *rule;
    } else {
      const Result<std::string> conflict = committer.conflict(*change);
      // A symlink, or a mount, is on the way: the host has changed since the workspace was made.
      step.why = conflict ? *conflict : conflict.error().message;
      if (!step.why.empty()) step.action = CommitAction::kConflict;
      if (step.why.empty()) ready.push_back(change);
    }
    report.steps.push_back(std::move(step));
  }
  if (request.mode == CommitMode::kDryRun || report.has(CommitAction::kConflict)) return report;
  for (const Change* const change : ready) TRY(committer.apply(*change));
  report.written = true;
  return report;
}

}  // namespace sallyport::workspace
