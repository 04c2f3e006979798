// A workspace's list of changes, and commit.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "core/persistence/judge.h"
#include "core/text/unified_diff.h"
#include "os/file.h"
#include "os/run_as.h"
#include "sallyport/sandboxed_path.h"
#include "sallyport/workspace.h"
#include "workspace/changes.h"
#include "workspace/commit.h"
#include "workspace/impl.h"
#include "workspace/patch.h"

namespace sallyport {
namespace {

// The limit for files that rules read: larger than any real one.
constexpr ByteCount kLargestJudged = mebibytes(64);

// The host's side of a path, as SandboxedPath reads it.
Result<std::string> read_host(int repo, const std::string& path, ByteCount cap) {
  const SandboxedPath root = SandboxedPath::from_fd(UniqueFd(::fcntl(repo, F_DUPFD_CLOEXEC, 3)));
  return root.read_file(path, cap);
}

Result<workspace::Changes> changes_of(const Workspace::Impl& impl) {
  if (!impl.is_copy()) return workspace::overlay_changes(impl.upper_fd(), impl.repo_fd());
  const workspace::Manifest manifest = TRY(workspace::read_manifest(impl.directory()));
  workspace::Changes changes = TRY(workspace::copy_changes(impl.copy_fd(), impl.repo_fd(), manifest));
  // Copied files do not count as written by runs.
  changes.bytes -= std::min(changes.bytes, workspace::copied_use(impl.directory()).bytes);
  return changes;
}

}  // namespace

Result<WorkspaceDiff> Workspace::diff() {
  WorkspaceDiff diff;
  workspace::Changes changes = TRY(changes_of(*impl_));
  diff.changes = std::move(changes.all);
  diff.bytes_used = changes.bytes;
  workspace::put_in_order(diff.changes);
  diff.findings = persistence::judge(diff.changes, [this](const Change& change, persistence::Side side) {
    const Result<std::string> text = side == persistence::Side::kAfter
                                         ? read_file(change.path, kLargestJudged)
                                         : read_host(impl_->repo_fd(), change.path, kLargestJudged);
    return text ? std::optional(*text) : std::nullopt;
  });
  return diff;
}

Result<std::string> Workspace::patch(const Change& change) {
  const auto shown = [](FileType type) {
    return type == FileType::kNone || type == FileType::kFile || type == FileType::kSymlink;
  };
  if (!shown(change.before) || !shown(change.after)) return workspace::patch_without_text(change, "no file");
  if (change.size_before > kLargestDiffText || change.size_after > kLargestDiffText) {
    return workspace::patch_without_text(change, "too large to show");
  }
  const ByteCount cap{kLargestDiffText};
  std::string before = change.link_before;
  std::string after = change.link_after;
  if (change.before == FileType::kFile) before = TRY(read_host(impl_->repo_fd(), change.path, cap));
  if (change.after == FileType::kFile) after = TRY(read_file(change.path, cap));
  return workspace::patch_text(change, before, after);
}

Result<CommitReport> Workspace::commit(const CommitRequest& request) {
  const WorkspaceDiff found = TRY(diff());
  const workspace::HostTree host(impl_->repo_fd(), owner_to_run_as(repo()));
  workspace::CommitInputs inputs{.diff = found,
                                 .host = host,
                                 .view = impl_->view(),
                                 .workspace_directory = impl_->directory(),
                                 .upper = impl_->is_copy() ? -1 : impl_->upper_fd(),
                                 .made_ns = impl_->about().made_ns};
  if (!impl_->is_copy()) return workspace::commit(inputs, request);
  const workspace::Manifest manifest = TRY(workspace::read_manifest(impl_->directory()));
  inputs.manifest = &manifest;
  return workspace::commit(inputs, request);
}

}  // namespace sallyport
