// From a request to everything a start needs that does not depend on the jail: checked, canonical, pinned.
#pragma once

#include <string>
#include <vector>

#include "core/policy/hardening/git_overrides.h"
#include "gate/git_guard.h"
#include "locate/child_path.h"
#include "locate/tool_locator.h"
#include "sallyport/gate.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

struct Prepared {
  Plan plan;
  PinnedTool tool;
  UniqueFd cwd;                   // the directory that was checked, not whatever has its name later
  std::vector<std::string> argv;  // of the file that is executed: a script's interpreter comes first
  BinaryIdentity executed;        // the tool, or the interpreter of a script
  GitGuard git{};                 // of a jailed run that may write
  std::string write_doubt{};      // why fs.write_confined cannot be promised; empty: it can
};

// Refusals come in the contract's order: name and arguments before the file system is touched (C2), then paths, then
// the tool's file. Nothing is made, nothing is started.
[[nodiscard]] Result<Prepared> prepare(const GateConfig& config, HashCache& hashes, ChildPath& child_path,
                                       const JailedSubprocessSpec& spec);

// The same call once git has listed the repo's configuration: plan and argv are made anew, the pinned files stay.
[[nodiscard]] Status apply_git_configuration(Prepared& prepared, const GateConfig& config, ChildPath& child_path,
                                             const JailedSubprocessSpec& spec, const GitConfiguration& git);

}  // namespace sallyport
