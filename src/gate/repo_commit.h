// The commit a repo stands at, read without starting anything. The repo is a stranger's: no symlink is followed, nothing but
// regular files of its git directory is read, and never more than a bound.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sallyport {

// 40 or 64 hex digits. Where `.git` is a file, as of a linked worktree or a submodule, what it names is believed only when it
// points back (linked_git.h). Nothing when it cannot be told: no git directory, a symbolic HEAD without a commit, reference
// tables.
[[nodiscard]] std::optional<std::string> repo_commit(const std::filesystem::path& repo);

}  // namespace sallyport
