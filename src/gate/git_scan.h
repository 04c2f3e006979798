// Finds every git directory and every `.git` in a tree, within bounds. Follows no symlink and holds one descriptor at a
// time, however deep the tree: the tree may be hostile, and was just written by a tool.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

enum class GitKind : std::uint8_t { kDirectory, kFile, kSymlink, kOther };

struct FoundGit {
  std::string path{};  // relative to the tree's root; empty for the root itself
  GitKind kind = GitKind::kDirectory;
  bool operator==(const FoundGit&) const = default;
};

struct ScanBounds {
  std::chrono::steady_clock::time_point deadline{};
  std::uint64_t most_entries = 4'000'000;
  std::uint64_t most_pending_bytes = 64ULL << 20U;  // names of directories not yet read
  std::size_t most_found = 4096;
  bool root_is_git = false;  // the root is a git directory, whatever is in it
};

struct GitScan {
  std::vector<FoundGit> found{};
  std::uint64_t entries = 0;
  std::string incomplete{};  // why the scan is incomplete; empty: it is complete
};

// Finds directories called `.git`, those with HEAD, objects and refs (a bare repo, which git recognises by itself), and
// those with HEAD and commondir (a worktree's). `root` is any descriptor of the directory.
[[nodiscard]] GitScan scan_for_git(int root, const ScanBounds& bounds);

// Opens `relative` below `root` for listing. If a tool has removed our right to read it, restores that right while it
// opens.
[[nodiscard]] Result<UniqueFd> open_listable(int root, const std::string& relative);

}  // namespace sallyport
