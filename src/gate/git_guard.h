// Keeps what git would execute out of a run's reach (ADR 0021): finds git directories in everything the run may write,
// lists which of their parts the jail must show read-only, and afterwards removes what the run has added to them.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gate/git_scan.h"
#include "sallyport/jail.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

struct GitReview {
  std::vector<GitFinding> findings{};
  std::string incomplete{};  // why the promise does not hold for this run; empty: it does
};

class GitGuard {
 public:
  // Call before the run. Returns an empty guard where nothing is writable, or where the caller opened git's files by
  // name. Refuses a tree that cannot be searched in time, and a writable path that is itself a part that git executes.
  [[nodiscard]] static Result<GitGuard> look(const Plan& plan);

  // Existing paths that must be mounted read-only.
  [[nodiscard]] const std::vector<std::filesystem::path>& shut() const { return shut_; }
  // Git directories: mount points of their own, so that none can be renamed away and replaced.
  [[nodiscard]] const std::vector<std::filesystem::path>& pinned() const { return pinned_; }
  // Why this run cannot have the guarantee at all; empty: it can.
  [[nodiscard]] const std::string& weakness() const { return weakness_; }

  // Call after the run. It ends by `deadline`, whatever the run wrote.
  [[nodiscard]] GitReview review(std::chrono::steady_clock::time_point deadline) const;

 private:
  friend class GitReviewer;

  // What a git directory had before the run.
  struct Before {
    GitKind kind = GitKind::kDirectory;
    bool is_read_only = false;                   // the run cannot reach it
    std::set<std::string> parts{};               // those that were there
    std::map<std::string, std::string> links{};  // those that were symlinks, and their texts; "" is the `.git` itself
    std::map<std::string, std::string> todos{};  // lists of instructions, and each one's file identity
  };
  struct Tree {
    std::filesystem::path path;
    UniqueFd root;
    std::map<std::string, Before> known{};  // by path relative to the root
  };

  [[nodiscard]] Status add_tree(const Plan& plan, const std::filesystem::path& path);
  [[nodiscard]] Status note(const Plan& plan, Tree& tree, const FoundGit& found);
  void note_part(const Plan& plan, const Tree& tree, const std::string& git, std::string_view part, Before& before);
  void note_programs(const Plan& plan, const Tree& tree, const std::string& git, std::string_view part);
  void shut(const Plan& plan, const std::filesystem::path& path);
  void check_hard_links(const Plan& plan, int root, const std::string& name, const std::filesystem::path& path);
  void note_hooks(const Plan& plan, int root, const std::string& name, const std::filesystem::path& path);
  void note_linked_hook(const Plan& plan, const std::filesystem::path& hook);

  std::vector<Tree> trees_;
  std::vector<std::filesystem::path> shut_;
  std::vector<std::filesystem::path> pinned_;
  std::vector<std::filesystem::path> absent_;  // missing programs that the configuration names
  std::string weakness_;
  timespec started_{};
  std::chrono::steady_clock::time_point deadline_{};
};

}  // namespace sallyport
