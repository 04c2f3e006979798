// The files a tool's arguments make it write or obey, checked where the file system is known: just before the start.
#pragma once

#include "sallyport/jail_port.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// Refuses a run whose output would go through a symlink the repo has put there, over a file with a second name, into a
// device or FIFO, or out of the places the run may write; and one that would obey a file of the repo as configuration.
// What changes in the repo after this check is not seen: see docs/threat-model.md.
// With a workspace, the files of the repo are those that the workspace shows.
[[nodiscard]] Status check_tool_files(const Plan& plan, Confinement confinement, const Workspace* workspace = nullptr);

// Whether `name` is `pattern`, in which each "*" spans anything. Goes back to the last star only, so no name that a repo
// has chosen makes it slow.
[[nodiscard]] bool matches_leaf(std::string_view name, std::string_view pattern);

}  // namespace sallyport
