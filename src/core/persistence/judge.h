// Decides which of a list of changes would run later, outside a jail: by the table of names, and by files' content.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/workspace.h"

namespace sallyport::persistence {

enum class Side { kBefore, kAfter };
// The whole content of a changed file; nullopt when it is no file, or too large to be what its name says.
using ReadSide = std::function<std::optional<std::string>(const Change&, Side)>;

// The files that lead git to another git directory: .git, commondir and gitdir. The gate's own review of git follows
// them; after a review of everything, it leaves only those that `git worktree add` makes.
enum class GitPointers { kReported, kReviewed };

// Findings come in the order of the changes. Of deletions it reports only a package manager's settings and lock files:
// a deleted file does not run, but these may have kept something else from running.
[[nodiscard]] std::vector<PersistenceFinding> judge(std::span<const Change> changes, const ReadSide& read,
                                                    GitPointers pointers = GitPointers::kReported);

// A finding that only the content of a file shows, with its path.
struct Found {
  std::string rule{};
  std::string reason{};
  PersistenceSeverity severity{};
};
[[nodiscard]] std::vector<Found> judge_package_json(const std::optional<std::string>& before,
                                                    const std::optional<std::string>& after);
[[nodiscard]] std::vector<Found> judge_package_lock(const std::optional<std::string>& before,
                                                    const std::optional<std::string>& after);
// `path` is that of the configuration file.
[[nodiscard]] std::vector<Found> judge_git_config(const std::string& path, const std::optional<std::string>& before,
                                                  const std::optional<std::string>& after);
// For a file at no special path that some configuration may include: reports it when it names a program or another
// file.
[[nodiscard]] std::vector<Found> judge_possible_git_config(const std::optional<std::string>& after);

}  // namespace sallyport::persistence
