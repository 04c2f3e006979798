// Comparing canonical paths.
#pragma once

#include <filesystem>

namespace sallyport {

// Whether `path` is `root` or lies beneath it, by components: "/a/bc" is not inside "/a/b". Both canonical.
[[nodiscard]] bool is_inside(const std::filesystem::path& path, const std::filesystem::path& root);

}  // namespace sallyport
