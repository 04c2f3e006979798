// The workspaces of one call: checked against the rest of the request, locked for its time, fitted to the jail, and measured.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "core/policy/make_plan.h"
#include "gate/prepare.h"
#include "sallyport/gate.h"
#include "sallyport/jail.h"
#include "sallyport/jail_port.h"
#include "sallyport/result.h"
#include "spawn/owner/supervise.h"

namespace sallyport {

// True when one lies in the other. Both canonical.
[[nodiscard]] bool overlap(const std::filesystem::path& a, const std::filesystem::path& b);

// The repo's workspace comes first.
[[nodiscard]] std::vector<Workspace*> workspaces_of(const JailedSubprocessSpec& spec);

// The workspace that the call names, over the gate's repo; null when it names none. Explaining makes nothing.
[[nodiscard]] Result<std::unique_ptr<Workspace>> open_named_workspace(const JailedSubprocessSpec& spec,
                                                                      const GateConfig& config, Purpose purpose);

// Refuses a workspace of another repo, one whose private part the run could reach, and options that would write to the
// repo itself, past the workspace.
[[nodiscard]] Status check_workspaces(const JailedSubprocessSpec& spec, const CanonicalPaths& paths);

// The working directory. An earlier run may have made it; then it exists in the workspace only.
[[nodiscard]] Result<std::filesystem::path> canonical_cwd(const JailedSubprocessSpec& spec,
                                                          const std::filesystem::path& repo);

// Locks the workspaces: one call at a time for each.
class WorkspacesInUse {
 public:
  [[nodiscard]] static Result<WorkspacesInUse> begin(const JailedSubprocessSpec& spec);
  WorkspacesInUse(WorkspacesInUse&& other) noexcept : used_(std::exchange(other.used_, {})) {}
  WorkspacesInUse& operator=(WorkspacesInUse&&) = delete;
  ~WorkspacesInUse();

 private:
  WorkspacesInUse() = default;
  std::vector<Workspace*> used_;
};

// Puts into the plan what this jail will mount.
[[nodiscard]] Status fit_layers(Jail& jail, const JailedSubprocessSpec& spec, Purpose purpose, Plan& plan);

// Empty when the call has no workspace.
[[nodiscard]] spawn::LayerWatch watch_layers(const JailedSubprocessSpec& spec);

// Call when the run has started in these layers.
[[nodiscard]] Status keep_layers(const JailedSubprocessSpec& spec, const Plan& plan);

// Like check_tool_files(), for a path in the workspace, which holds what earlier runs left. False: the path lies
// elsewhere.
[[nodiscard]] Result<bool> checked_in_workspace(const Workspace& workspace, const Plan& plan, const FileRule& rule,
                                                const std::filesystem::path& path);

}  // namespace sallyport
