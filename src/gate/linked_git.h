// Git directories outside a repo that the repo's own `.git` points to: of a linked worktree, a submodule, a clone with
// alternates (ADR 0049). The adversary wrote the repo: the jail shows what it points to only if the other side points
// back.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sallyport {

// A git directory that was found but is not shown, and why, for people.
struct HiddenGit {
  std::filesystem::path path{};
  std::string why{};
};

// Where git keeps HEAD and the branches of a repo whose `.git` is a file; canonical. Both are the same directory,
// except for a linked worktree.
struct GitPlace {
  std::filesystem::path own{};
  std::filesystem::path common{};
};

struct LinkedGit {
  std::vector<std::filesystem::path> shown{};  // canonical directories
  std::vector<HiddenGit> hidden{};
  std::optional<GitPlace> place{};  // set if it is shown, or lies in the repo itself
};

// `repo` is canonical. Shows
//   - of a linked worktree, the common git directory: `.git` names COMMON/worktrees/X, whose `gitdir` names this `.git`, and
//     whose `commondir` is COMMON;
//   - of a submodule, its git directory: `.git` names it, and its core.worktree is the repo.
// Both must be git directories of the user who owns the repo. Alternates (`clone --shared`, `--reference`) have nothing
// that points back, so any repo could borrow any other's objects: they stay hidden unless the caller shows them by
// name.
[[nodiscard]] LinkedGit find_linked_git(const std::filesystem::path& repo);

}  // namespace sallyport
