// Reads which commit a repo is at, without starting anything. The repo is untrusted: this follows no symlink, and reads
// only regular files of its git directory, and no more than a bound.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sallyport {

// 40 or 64 hex digits. Where `.git` is a file, as in a linked worktree or a submodule, it trusts the directory named
// there only if that points back (linked_git.h). nullopt when the commit cannot be determined: no git directory, a
// symbolic HEAD without a commit, reference tables.
[[nodiscard]] std::optional<std::string> repo_commit(const std::filesystem::path& repo);

}  // namespace sallyport
