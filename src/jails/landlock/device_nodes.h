// Finds device nodes in what a root caller shows: Landlock would let the tool open them, and a node that root made
// works.
#pragma once

#include <filesystem>

#include "sallyport/result.h"

namespace sallyport::landlock {

// The error names a device node, or says that the tree cannot be searched. On a file system mounted nodev no device
// node works.
[[nodiscard]] Status check_no_device_nodes(const std::filesystem::path& root);

}  // namespace sallyport::landlock
