// Directories named by a caller, made canonical once; later code compares plain paths.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/view/paths.h"
#include "sallyport/result.h"

namespace sallyport {

// The absolute path of an existing directory we may list and enter, with every symlink, "." and ".." resolved.
// `field` names the request's field in the InvalidRequest error ("cwd", "repo").
[[nodiscard]] Result<std::filesystem::path> canonical_directory(const std::filesystem::path& path,
                                                                std::string_view field = "path");

// The path as written, made absolute without following symlinks. Leading ".." go up from the current directory, whose
// name from the kernel has no symlinks, so the path does not pass through the directories in between.
[[nodiscard]] Result<std::filesystem::path> absolute_from_here(const std::filesystem::path& path);

// An existing file or directory, for extra mounts.
[[nodiscard]] Result<std::filesystem::path> canonical_existing(const std::filesystem::path& path,
                                                               std::string_view field = "path");

// The same, with every symlink that was followed on the way, each by its own canonical path: a process that can write
// there decides where the path leads next time.
struct ResolvedPath {
  std::filesystem::path path;
  std::vector<std::filesystem::path> links;
};
[[nodiscard]] Result<ResolvedPath> resolve_existing(const std::filesystem::path& path, std::string_view field = "path");

}  // namespace sallyport
