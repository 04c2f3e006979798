// Deletes what an untrusted tool left behind.
#pragma once

#include <string>

#include "sallyport/result.h"

namespace sallyport {

// Removes the directory `name` in `parent` and everything in it. Follows no symlink and crosses no mount, needs a
// constant number of descriptors and no recursion however deep the tree is, handles directories that the tool left
// without permissions, and tolerates for a while a process that still adds files. ENOENT is success.
[[nodiscard]] Status remove_tree_at(int parent, const std::string& name);

}  // namespace sallyport
