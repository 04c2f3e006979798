// Decides which changes go back into the host's directory, and writes them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/workspace.h"
#include "workspace/copy.h"
#include "workspace/host_tree.h"
#include "workspace/merged.h"

namespace sallyport::workspace {

// Host files that a commit of this workspace wrote, with their identity at that time.
using Committed = std::unordered_map<std::string, Stood>;
[[nodiscard]] Result<Committed> read_committed(int workspace_directory);
[[nodiscard]] Status note_committed(int workspace_directory, const std::string& path, const Stood& stood);

struct CommitInputs {
  const WorkspaceDiff& diff;
  const HostTree& host;
  MergedView view;
  int workspace_directory = -1;
  int upper = -1;  // of an overlay; negative: a copy
  std::int64_t made_ns = 0;
  const Manifest* manifest = nullptr;  // of a copy
};

[[nodiscard]] Result<CommitReport> commit(const CommitInputs& inputs, const CommitRequest& request);

}  // namespace sallyport::workspace
