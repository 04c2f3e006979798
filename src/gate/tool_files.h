// Checks the files that a tool's arguments make it write or obey, against the file system and just before the start.
#pragma once

#include "sallyport/jail_port.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// Refuses a run whose output would go through a symlink of the repo, over a file with a second name, into a device or
// FIFO, or out of the places that the run may write; and a run that would obey a file of the repo as configuration. It
// does not see later changes in the repo: see docs/threat-model.md.
// With a workspace, it checks the repo's files as the workspace shows them.
[[nodiscard]] Status check_tool_files(const Plan& plan, Confinement confinement, const Workspace* workspace = nullptr);

// True when `name` matches `pattern`, in which each "*" matches anything. It backtracks to the last star only, so no
// name that a repo chooses makes it slow.
[[nodiscard]] bool matches_leaf(std::string_view name, std::string_view pattern);

}  // namespace sallyport
