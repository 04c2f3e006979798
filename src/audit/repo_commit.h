// The commit a repo stands at, read without starting anything. The repo is a stranger's: no symlink is followed, nothing but
// regular files beneath it is read, and never more than a bound.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sallyport::audit {

// 40 or 64 hex digits. Nothing when it cannot be told: no .git directory (a worktree's is elsewhere), a symbolic HEAD without a
// commit, reference tables.
[[nodiscard]] std::optional<std::string> repo_commit(const std::filesystem::path& repo);

}  // namespace sallyport::audit
