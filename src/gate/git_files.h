// Files of a git directory, read and taken back beneath a root that a tool could write: no symlink is followed, nothing but
// a regular file is opened, and never more than a bound is read.
#pragma once

#include <time.h>

#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport {

[[nodiscard]] std::string git_below(const std::string& git_directory, std::string_view name);

// A regular file of at most 1 MiB.
[[nodiscard]] Result<std::string> read_git_file(int root, const std::string& path);
[[nodiscard]] Result<std::string> read_git_link(int root, const std::string& path);

// Takes `path` away and returns what was done. A file that was made since `started` is removed. What is older, or a directory,
// may be somebody's work that was only moved here: it is set aside under another name beside.
[[nodiscard]] Result<std::string> take_back(int root, const std::string& path, const timespec& started);
[[nodiscard]] Status put_git_link(int root, const std::string& path, const std::string& text);
// Replaces the content of a regular file.
[[nodiscard]] Status rewrite_git_file(int root, const std::string& path, std::string_view text);

// Which file is there now, in a form to compare; empty when there is none.
[[nodiscard]] std::string git_todo_identity(int root, const std::string& path);

}  // namespace sallyport
