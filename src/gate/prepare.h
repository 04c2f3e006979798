// From a request to everything a start needs that does not depend on the jail: checked, canonical, pinned.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/policy/hardening/npm_layout.h"
#include "core/policy/make_plan.h"
#include "gate/git_guard.h"
#include "gate/linked_git.h"
#include "locate/child_path.h"
#include "sallyport/gate.h"
#include "sallyport/jail_port.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

struct Prepared {
  AdmittedCall call{};
  CanonicalPaths paths{};
  Plan plan{};  // fitted to the jail that is tried: the tool's file in that jail, and that jail's layers
  // The plan's argv and env before it was fitted: each jail that is tried starts from these.
  std::vector<std::string> argv{};
  std::vector<EnvVar> env{};
  UniqueFd cwd{};                  // the directory that was checked, even if its name changes later
  Workspace* workspace = nullptr;  // borrowed from the call
  // What the jail resolved the tool's name to; and, once a jail asked for it, what the name means on the host.
  std::shared_ptr<const Executable> tool{};
  std::shared_ptr<const Executable> host_tool{};
  std::optional<hardening::NpmLayout> npm_layout{};  // of host_tool, when it is npm
  GitGuard git{};                                    // set for a jailed run that may write
  std::vector<HiddenGit> hidden_git{};               // git directories that the repo points to and that are not shown
  std::string ca_bundle{};                           // what the jail shows as kJailCaBundle; empty: nothing
  std::string write_doubt{};                         // why fs.write_confined cannot be promised; empty: it can
  // Paths as written, symlinks included: the caller's own paths, and those by which host_tool and its interpreter were
  // found.
  std::vector<std::filesystem::path> path_names{};
  std::vector<std::filesystem::path> tool_names{};
};

// The gate's repo for one call, and the user that a jailed tool over it runs as. Decided once, so that the git that lists the
// configuration first (ADR 0026) runs as the same user.
struct RepoOfCall {
  std::filesystem::path path{};
  std::optional<UserIds> owner{};
  [[nodiscard]] static RepoOfCall at(const std::filesystem::path& path);
};

// Paths are resolved and checked, and the call becomes a plan. Nothing is made, nothing is started.
[[nodiscard]] Result<Prepared> prepare(AdmittedCall call, ChildPath& child_path, const JailedSubprocessSpec& spec,
                                       const RepoOfCall& repo);

// Finds the tool's file as this jail resolves it, and fits the plan to what was found.
[[nodiscard]] Status resolve_tool(Jail& jail, CallHost& host, Prepared& prepared);

// The same call once git has listed the repo's configuration: makes a new plan, keeps the pinned files.
[[nodiscard]] Status apply_git_configuration(Prepared& prepared, const Allowlist& allowlist, ChildPath& child_path,
                                             const JailedSubprocessSpec& spec, const GitConfiguration& git);

}  // namespace sallyport
