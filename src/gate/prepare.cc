#include "gate/prepare.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "core/errors.h"
#include "core/policy/make_plan.h"
#include "core/view/fs_view.h"
#include "core/view/paths.h"
#include "gate/ca_bundle.h"
#include "gate/layers.h"
#include "gate/protected_paths.h"
#include "os/canonical.h"
#include "os/openat2.h"
#include "os/run_as.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

// One gate, one repo: what the gate checked when it was opened (that the policy lies elsewhere) holds for no other
// repo.
Result<fs::path> repo_of(const JailedSubprocessSpec& spec, const fs::path& of_gate) {
  fs::path repo = TRY(canonical_directory(of_gate, "repo"));
  if (spec.repo.empty() || TRY(canonical_directory(spec.repo, "repo")) == repo) return repo;
  return fail(invalid_request("repo", fmt::format("{} is not the gate's, {}", spec.repo.string(), repo.string()),
                              "open a gate over that repo"));
}

Result<CanonicalPaths> canonical_paths(const JailedSubprocessSpec& spec, const RepoOfCall& repo) {
  CanonicalPaths paths;
  if (spec.workspace == nullptr) paths.cwd = TRY(canonical_directory(spec.cwd, "cwd"));
  paths.repo = TRY(repo_of(spec, repo.path));
  TRY(check_not_whole_host("repo", paths.repo));
  if (spec.workspace != nullptr) paths.cwd = TRY(canonical_cwd(spec, paths.repo));
  TRY(resolve_extras(spec, paths));
  TRY(check_workspaces(spec, paths));
  paths.owner = repo.owner;
  if (spec.extra_ca) paths.extra_ca = TRY(canonical_existing(*spec.extra_ca, "extra_ca"));
  if (paths.extra_ca && is_inside(*paths.extra_ca, paths.repo)) {
    return fail(invalid_request("extra_ca", "it lies in the analysed repo",
                                "the repo must not decide which certificates the tool trusts"));
  }
  return paths;
}

// Shows the directory like a path that the caller named, unless the caller shows it already.
void show_linked_git(const LinkedGit& linked, CanonicalPaths& paths) {
  for (const fs::path& directory : linked.shown) {
    const auto shows = [&](const fs::path& path) { return is_inside(directory, path); };
    const bool twice =
        std::ranges::any_of(paths.extra_read_only, shows) || std::ranges::any_of(paths.extra_read_write, shows);
    if (!twice) paths.extra_read_only.push_back(directory);
  }
}

std::vector<HiddenGit> still_hidden(LinkedGit linked, const CanonicalPaths& paths) {
  std::erase_if(linked.hidden, [&](const HiddenGit& hidden) {
    const auto shows = [&](const fs::path& path) { return is_inside(hidden.path, path); };
    return std::ranges::any_of(paths.extra_read_only, shows) || std::ranges::any_of(paths.extra_read_write, shows);
  });
  return std::move(linked.hidden);
}

// A tool that gets a Unix socket as stdin can send wherever the socket's type allows. It cannot if the supervisor only
// copies from the socket.
Status check_stdin(const JailedSubprocessSpec& spec) {
  const auto* given = std::get_if<RawStdinFd>(&spec.stdin_source);
  const bool matters = std::ranges::find(spec.required, Guarantee::kNetUnixIsolated) != spec.required.end();
  struct stat info{};
  if (given == nullptr || !matters || ::fstat(given->fd, &info) != 0 || !S_ISSOCK(info.st_mode)) return {};
  return fail(
      guarantee_unavailable(Guarantee::kNetUnixIsolated, "stdin is a socket", "pass the bytes, or a pipe or file"));
}

// Makes the plan from the call and its paths, without what a jail adds.
Status plan_anew(Prepared& prepared, ChildPath& child_path, const JailedSubprocessSpec& spec) {
  prepared.plan = TRY(make_plan(prepared.call, spec, prepared.paths, child_path.trusted_for(prepared.paths.repo)));
  prepared.argv = prepared.plan.argv;
  prepared.env = prepared.plan.env;
  return {};
}

// What depends on the version that was found. Another jail may mean another file.
void fit_to_tool(Prepared& prepared) {
  prepared.plan.argv = prepared.argv;
  prepared.plan.env = prepared.env;
  if (!prepared.npm_layout || prepared.tool != prepared.host_tool) return;
  hardening::fit_to_npm(*prepared.npm_layout, prepared.plan.argv, prepared.plan.env);
}

}  // namespace

RepoOfCall RepoOfCall::at(const fs::path& path) { return {.path = path, .owner = owner_to_run_as(path)}; }

Result<Prepared> prepare(AdmittedCall call, ChildPath& child_path, const JailedSubprocessSpec& spec,
                         const RepoOfCall& repo) {
  TRY(check_stdin(spec));
  Prepared prepared{.call = std::move(call), .paths = TRY(canonical_paths(spec, repo))};
  LinkedGit linked = find_linked_git(prepared.paths.repo);
  show_linked_git(linked, prepared.paths);
  TRY(plan_anew(prepared, child_path, spec));
  prepared.hidden_git = still_hidden(std::move(linked), prepared.paths);
  prepared.workspace = spec.workspace;
  // A jail that shows a workspace enters the cwd by name, inside; the host may not have that directory.
  const fs::path& checked = spec.workspace != nullptr ? prepared.plan.repo : prepared.plan.cwd;
  prepared.cwd = TRY(open_exactly(checked, O_PATH | O_DIRECTORY));
  if (prepared.plan.extra_ca) prepared.ca_bundle = TRY(read_ca_bundle(*prepared.plan.extra_ca));
  prepared.path_names = spec.extra_read_only;
  prepared.path_names.insert(prepared.path_names.end(), spec.extra_read_write.begin(), spec.extra_read_write.end());
  return prepared;
}

Status resolve_tool(Jail& jail, CallHost& host, Prepared& prepared) {
  std::shared_ptr<const Executable> tool = TRY(jail.resolve(prepared.plan, host));
  if (!tool) return fail(jail_unavailable(jail.kind(), "it found no program and said nothing"));
  if (tool == prepared.tool) return {};
  prepared.tool = std::move(tool);
  fit_to_tool(prepared);
  return {};
}

Status apply_git_configuration(Prepared& prepared, const Allowlist& allowlist, ChildPath& child_path,
                               const JailedSubprocessSpec& spec, const GitConfiguration& git) {
  TRY(harden_for(git, allowlist, spec, prepared.call));
  std::vector<PrivateLayer> layers = std::move(prepared.plan.layers);
  TRY(plan_anew(prepared, child_path, spec));
  prepared.plan.layers = std::move(layers);
  fit_to_tool(prepared);
  return {};
}

}  // namespace sallyport
