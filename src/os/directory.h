// Names in a directory, by descriptor.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport {

// The entries of the directory `fd` (O_RDONLY) from its beginning, without "." and "..", at most about `enough`.
[[nodiscard]] Result<std::vector<std::string>> list_directory(
    int fd, std::string_view subject, std::size_t enough = std::numeric_limits<std::size_t>::max());

}  // namespace sallyport
