// From a request to everything a start needs that does not depend on the jail: checked, canonical, pinned.
#pragma once

#include <string>
#include <vector>

#include "sallyport/gate.h"
#include "sallyport/unique_fd.h"
#include "tools/tool_locator.h"

namespace sallyport {

struct Prepared {
  Plan plan;
  PinnedTool tool;
  UniqueFd cwd;                   // the directory that was checked, not whatever has its name later
  std::vector<std::string> argv;  // of the file that is executed: a script's interpreter comes first
  BinaryIdentity executed;        // the tool, or the interpreter of a script
};

// Refusals come in the contract's order: name and arguments before the file system is touched (C2), then paths, then
// the tool's file. Nothing is made, nothing is started.
[[nodiscard]] Result<Prepared> prepare(const GateConfig& config, HashCache& hashes, const JailedSubprocessSpec& spec);

}  // namespace sallyport
