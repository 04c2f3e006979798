// Every path of a workspace that differs from the host's directory.
#pragma once

#include <vector>

#include "sallyport/result.h"
#include "sallyport/workspace.h"
#include "workspace/copy.h"

namespace sallyport::workspace {

struct Changes {
  std::vector<Change> all{};  // in no order
  std::uint64_t bytes = 0;    // disk usage of the walked layer
};
// Both must be readable. Walks the upper layer, and of the lower only what is deleted.
[[nodiscard]] Result<Changes> overlay_changes(int upper, int lower);
// Walks the whole copy; does not compare files that are unchanged since the copy was made.
[[nodiscard]] Result<Changes> copy_changes(int copy, int repo, const Manifest& manifest);

// Deletions first, then by path.
void put_in_order(std::vector<Change>& changes);

}  // namespace sallyport::workspace
