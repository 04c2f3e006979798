// Device nodes in what a root caller shows: Landlock would let the tool open them, and where root put one it works.
#pragma once

#include <filesystem>

#include "sallyport/result.h"

namespace sallyport::landlock {

// An error that names one, or says that the tree cannot be searched. A file system mounted nodev has none that work.
[[nodiscard]] Status check_no_device_nodes(const std::filesystem::path& root);

}  // namespace sallyport::landlock
