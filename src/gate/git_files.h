// Reads and removes files of a git directory beneath a root that a tool could write: follows no symlink, opens only
// regular files, and reads no more than a bound.
#pragma once

#include <time.h>

#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport {

[[nodiscard]] std::string git_below(const std::string& git_directory, std::string_view name);

// Reads a regular file of at most 1 MiB.
[[nodiscard]] Result<std::string> read_git_file(int root, const std::string& path);
[[nodiscard]] Result<std::string> read_git_link(int root, const std::string& path);

// Removes `path` and returns what it did. It deletes a file that was made since `started`. An older file, or a
// directory, may be the user's work that was only moved here: it renames that within the same directory.
[[nodiscard]] Result<std::string> take_back(int root, const std::string& path, const timespec& started);
[[nodiscard]] Status put_git_link(int root, const std::string& path, const std::string& text);
// Replaces the content of a regular file.
[[nodiscard]] Status rewrite_git_file(int root, const std::string& path, std::string_view text);

// Identifies the file that is there now, in a comparable form; empty when there is none.
[[nodiscard]] std::string git_todo_identity(int root, const std::string& path);

}  // namespace sallyport
