#include "gate/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/errors.h"
#include "core/text/printable.h"
#include "core/view/paths.h"
#include "os/canonical.h"
#include "workspace/impl.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

Error overlapping(const fs::path& over, std::string_view what, const fs::path& path) {
  return invalid_request("workspace",
                         fmt::format("{} is a workspace's, and {} {} lies in, around or beside it",
                                     printable(over.native()), what, printable(path.native())),
                         "a workspace is writable as a whole; name paths outside it only");
}

Status check_apart(Workspace& workspace, const CanonicalPaths& paths) {
  const fs::path& over = workspace.repo();
  const fs::path& state = workspace.impl().state_path();
  for (const fs::path& path : paths.extra_read_write) {
    if (overlap(path, over) || overlap(path, state)) return fail(overlapping(over, "the writable path", path));
  }
  // A path around the repo does no harm: the workspace is mounted over the repo's part of it.
  for (const fs::path& path : paths.extra_read_only) {
    if (is_inside(path, over) || overlap(path, state)) return fail(overlapping(over, "the read-only path", path));
  }
  for (const fs::path& path : paths.no_exec) {
    if (is_inside(path, over)) return fail(overlapping(over, "the path without programs", path));
  }
  if (overlap(paths.repo, state)) return fail(overlapping(over, "the repo", paths.repo));
  return {};
}

}  // namespace

bool overlap(const fs::path& a, const fs::path& b) { return is_inside(a, b) || is_inside(b, a); }

std::vector<Workspace*> workspaces_of(const JailedSubprocessSpec& spec) {
  std::vector<Workspace*> all;
  if (spec.workspace != nullptr) all.push_back(spec.workspace);
  all.insert(all.end(), spec.overlays.begin(), spec.overlays.end());
  return all;
}

Result<std::unique_ptr<Workspace>> open_named_workspace(const JailedSubprocessSpec& spec, const GateConfig& config,
                                                        Purpose purpose) {
  if (!spec.named_workspace) return std::unique_ptr<Workspace>();
  WorkspaceOptions named = *spec.named_workspace;
  if (spec.workspace != nullptr || !named.repo.empty()) {
    return fail(invalid_request("workspace", "the call names one, and another or its repo", "leave the others out"));
  }
  if (named.name.empty()) {
    return fail(invalid_request("workspace", "its name is empty", "name one with `named_workspace`"));
  }
  named.repo = config.repo;
  if (named.events == nullptr) named.events = config.events;
  return purpose == Purpose::kExplain ? Workspace::Impl::foresee(std::move(named)) : Workspace::open(std::move(named));
}

Status check_workspaces(const JailedSubprocessSpec& spec, const CanonicalPaths& paths) {
  const std::vector<Workspace*> all = workspaces_of(spec);
  if (all.empty()) return {};
  if (std::ranges::find(all, nullptr) != all.end()) return fail(invalid_request("overlays", "one of them is null"));
  if (spec.workspace != nullptr && spec.workspace->repo() != paths.repo) {
    return fail(invalid_request("workspace",
                                fmt::format("it is one of {}, and the call's repo is {}",
                                            printable(spec.workspace->repo().native()), printable(paths.repo.native())),
                                "open one over this repo"));
  }
  if (spec.workspace != nullptr && spec.repo_access == RepoAccess::kWritable) {
    return fail(invalid_request("workspace", "with one the host's repo stays as it is, so it cannot be writable",
                                "choose one of the two"));
  }
  for (Workspace* const one : all) TRY(check_apart(*one, paths));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != spec.workspace && overlap(all[i]->repo(), paths.repo)) {
      return fail(overlapping(all[i]->repo(), "the repo", paths.repo));
    }
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      if (overlap(all[i]->repo(), all[j]->repo())) {
        return fail(overlapping(all[i]->repo(), "another workspace's", all[j]->repo()));
      }
    }
  }
  return {};
}

Result<fs::path> canonical_cwd(const JailedSubprocessSpec& spec, const fs::path& repo) {
  Result<fs::path> on_host = canonical_directory(spec.cwd, "cwd");
  if (on_host || spec.workspace == nullptr) return on_host;
  std::error_code error;
  fs::path cwd = fs::absolute(spec.cwd, error).lexically_normal();
  if (!cwd.has_filename()) cwd = cwd.parent_path();
  if (error || !is_inside(cwd, repo)) return on_host;
  const Result<FileType> type = spec.workspace->type_of(cwd.lexically_relative(repo));
  if (!type || *type != FileType::kDirectory) return on_host;
  return cwd;
}

Result<WorkspacesInUse> WorkspacesInUse::begin(const JailedSubprocessSpec& spec) {
  WorkspacesInUse use;
  for (Workspace* const one : workspaces_of(spec)) {
    if (one == nullptr) return fail(invalid_request("overlays", "one of them is null"));
    TRY(one->impl().begin_use());
    use.used_.push_back(one);
  }
  return use;
}

WorkspacesInUse::~WorkspacesInUse() {
  for (Workspace* const one : used_) one->impl().end_use();
}

Status fit_layers(Jail& jail, const JailedSubprocessSpec& spec, Purpose purpose, Plan& plan) {
  plan.layers.clear();
  for (Workspace* const one : workspaces_of(spec)) {
    if (jail.layers() == LayerSupport::kNone) {
      return fail(guarantee_unavailable(Guarantee::kFsRepoUntouched,
                                        fmt::format("the jail \"{}\" cannot show a workspace", jail.name()),
                                        "choose another jail"));
    }
    // A copy lies below a directory that only the caller may enter, but such a jail opens it as the tool's user.
    if (jail.layers() == LayerSupport::kBind && plan.run_as) {
      return fail(guarantee_unavailable(
          Guarantee::kFsRepoUntouched,
          fmt::format("the jail \"{}\" would need a copy of the repo that its owner may enter", jail.name()),
          "choose a jail that mounts an overlay, or run as the repo's owner"));
    }
    plan.layers.push_back(TRY(one->impl().layer(jail.layers(), purpose, plan.run_as)));
  }
  return {};
}

spawn::LayerWatch watch_layers(const JailedSubprocessSpec& spec) {
  std::vector<Workspace*> all = workspaces_of(spec);
  if (all.empty()) return {};
  for (Workspace* const one : all) one->impl().meter().begin_run();
  return [all = std::move(all)](spawn::LayerLook look) -> std::optional<spawn::LayerFull> {
    for (Workspace* const one : all) {
      workspace::LayerMeter& meter = one->impl().meter();
      const ByteCount quota = one->quota();
      const std::optional<workspace::LayerUse> full =
          look == spawn::LayerLook::kAtTheEnd ? meter.measure_at_the_end(quota) : meter.look(quota);
      if (!full) continue;
      return spawn::LayerFull{
          .bytes = full->bytes, .quota_bytes = count(quota), .files = full->files, .quota_files = scratch_files(quota)};
    }
    return std::nullopt;
  };
}

Status keep_layers(const JailedSubprocessSpec& spec, const Plan& plan) {
  const std::vector<Workspace*> all = workspaces_of(spec);
  for (std::size_t i = 0; i < all.size() && i < plan.layers.size(); ++i) TRY(all[i]->impl().keep(plan.layers[i]));
  return {};
}

}  // namespace sallyport
