// Describes a workspace's content. Every name and text in it comes from an untrusted run, and is made printable here.
#pragma once

#include <string>
#include <vector>

#include "sallyport/workspace.h"

namespace sallyport::cli {

// Every change, one a line, deletions first, then what would run later.
[[nodiscard]] std::string diff_text(const WorkspaceDiff& diff, ByteCount quota);
[[nodiscard]] std::string commit_text(const CommitReport& report);
[[nodiscard]] std::string list_text(const std::vector<WorkspaceInfo>& workspaces);
// A patch for a person: line by line, without escape sequences.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace sallyport::cli
