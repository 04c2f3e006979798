// Every path of a workspace that differs from the host's directory.
#pragma once

#include <vector>

#include "sallyport/result.h"
#include "sallyport/workspace.h"
#include "workspace/copy.h"

namespace sallyport::workspace {

struct Changes {
  std::vector<Change> all{};  // in no order
  std::uint64_t bytes = 0;    // that the walked layer takes on disk
};
// Both readable. Walks the upper layer only, and of the lower what is deleted.
[[nodiscard]] Result<Changes> overlay_changes(int upper, int lower);
// Walks the whole copy; files that are as they were made are not compared.
[[nodiscard]] Result<Changes> copy_changes(int copy, int repo, const Manifest& manifest);

// Deletions first, then by path.
void put_in_order(std::vector<Change>& changes);

}  // namespace sallyport::workspace
