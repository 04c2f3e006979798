// Reviews a run that could write, when nothing of it is alive: judges what it added to git directories by what git
// would do with it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "core/text/printable.h"
#include "core/view/git_parts.h"
#include "core/view/paths.h"
#include "gate/git_files.h"
#include "gate/git_guard.h"
#include "os/directory.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFindings = 100;
constexpr std::size_t kMostNewHooks = 256;

}  // namespace

// Reviews one tree.
class GitReviewer {
 public:
  GitReviewer(const GitGuard& guard, const GitGuard::Tree& tree, GitReview& review)
      : guard_(guard), tree_(tree), review_(review), root_(tree.root.get()) {}

  void run(std::chrono::steady_clock::time_point deadline) {
    // First the git directories from before the run: they matter most, and this way a flood of files cannot keep us
    // from them.
    for (const auto& [path, before] : tree_.known) review_known(path, before);
    for (const fs::path& path : guard_.absent_) {
      if (!is_inside(path, tree_.path)) continue;
      const std::string relative = path.lexically_relative(tree_.path);
      if (is_there(relative)) take(relative, "hooks or configuration that git's configuration names");
    }
    GitScan scan = scan_for_git(root_, {.deadline = deadline, .root_is_git = tree_.path.filename() == ".git"});
    if (!scan.incomplete.empty()) incomplete(scan.incomplete);
    for (FoundGit& found : scan.found) found_.insert(std::move(found.path));
    for (const std::string& path : found_) {
      if (!tree_.known.contains(path)) review_new(path);
    }
  }

 private:
  void incomplete(const std::string& why) {
    if (review_.incomplete.empty()) review_.incomplete = fmt::format("{}: {}", printable(tree_.path.native()), why);
  }

  void report(const std::string& path, std::string what, std::string action) {
    if (review_.findings.size() == kMostFindings) {
      review_.findings.push_back({.path = {}, .what = "more of the same", .action = "not listed"});
    }
    if (review_.findings.size() > kMostFindings) return;
    review_.findings.push_back(
        {.path = (tree_.path / path).native(), .what = std::move(what), .action = std::move(action)});
  }

  [[nodiscard]] mode_t mode_of(const std::string& path) const {
    const int fd = openat2_within(root_, path.c_str(), O_PATH | O_NOFOLLOW);
    const UniqueFd opened(fd < 0 ? -1 : fd);
    struct stat info{};
    if (!opened || ::fstat(opened.get(), &info) != 0) return 0;
    return info.st_mode;
  }
  [[nodiscard]] bool is_there(const std::string& path) const { return mode_of(path) != 0; }

  bool take(const std::string& path, std::string what) {
    Result<std::string> action = take_back(root_, path, guard_.started_);
    if (action) {
      report(path, std::move(what), *std::move(action));
      return true;
    }
    incomplete(action.error().message);
    report(path, std::move(what), fmt::format("could not be removed: {}", action.error().message));
    return false;
  }

  void review_known(const std::string& path, const GitGuard::Before& before) {
    if (before.is_read_only) return;
    if (before.kind == GitKind::kSymlink) return keep_link(path, before.links.at(""), "another .git");
    if (before.kind != GitKind::kDirectory) return;  // read-only in the jail
    for (const auto& [name, text] : before.links) keep_link(git_below(path, name), text, "another " + name);
    for (const std::string_view part : kGitParts) {
      const std::string name(part);
      if (!before.parts.contains(name) && !before.links.contains(name)) judge_part(path, part);
    }
    judge_directories(path, before);
    for (const auto& [todo, identity] : before.todos) judge_todo(git_below(path, todo), identity);
  }

  // Restores a symlink that is gone or changed.
  void keep_link(const std::string& path, const std::string& text, const std::string& what) {
    const Result<std::string> now = read_git_link(root_, path);
    if (now && *now == text) return;
    if (is_there(path) && !take(path, what)) return;
    if (const Status put = put_git_link(root_, path, text); !put) incomplete(put.error().message);
  }

  void review_new(const std::string& path) {
    const mode_t mode = mode_of(path);
    if (mode == 0) return;
    const bool is_dot_git = path == ".git" || path.ends_with("/.git");
    if (S_ISDIR(mode)) return judge_directory(path);
    if (S_ISREG(mode) && leads_to_git_of_ours(path)) return;
    take(path, is_dot_git ? "a .git that leads elsewhere" : "a symlink among git directories");
  }

  void judge_directory(const std::string& path) {
    for (const std::string_view part : kGitParts) judge_part(path, part);
    judge_directories(path, {});
    for (const std::string_view todo : kGitTodos) judge_todo(git_below(path, todo), {});
  }

  // True for what `git worktree add` and `git submodule` make: a file that leads to the place in a checked git
  // directory where worktrees or submodules have theirs.
  [[nodiscard]] bool leads_to_git_of_ours(const std::string& path) const {
    const Result<std::string> text = read_git_file(root_, path);
    const std::optional<std::string> target = text ? gitdir_target(*text) : std::nullopt;
    if (!target) return false;
    const fs::path absolute = ((tree_.path / path).parent_path() / *target).lexically_normal();
    if (!is_inside(absolute, tree_.path)) return false;
    const std::string relative = absolute.lexically_relative(tree_.path);
    if (!found_.contains(relative) || !S_ISDIR(mode_of(relative))) return false;
    return relative.starts_with(".git/worktrees/") || relative.starts_with(".git/modules/") ||
           relative.find("/.git/worktrees/") != std::string::npos ||
           relative.find("/.git/modules/") != std::string::npos;
  }

  void judge_part(const std::string& git, std::string_view part) {
    const std::string path = git_below(git, part);
    const mode_t mode = mode_of(path);
    if (mode == 0 || part == "gitdir") return;  // a worktree's own path: git only compares it
    if (part == "hooks") return judge_hooks(path, mode);
    if (part == "commondir") {
      if (!is_worktrees_commondir(git, path)) take(path, "a pointer to another git directory");
      return;
    }
    if (part == "info/attributes") {
      take(path, "attributes");
      return;
    }
    const Result<std::string> text = read_git_file(root_, path);
    if (!text) {
      take(path, "configuration that cannot be read");
    } else if (const std::optional<std::string> harm = harm_in_git_config(*text, git)) {
      take(path, fmt::format("configuration ({})", printable(*harm)));
    }
  }

  [[nodiscard]] bool is_worktrees_commondir(const std::string& git, const std::string& path) const {
    const fs::path worktrees = (tree_.path / git).parent_path();
    const Result<std::string> text = read_git_file(root_, path);
    return worktrees.filename() == "worktrees" && worktrees.parent_path().filename() == ".git" && text &&
           (*text == "../.." || *text == "../..\n");
  }

  void judge_hooks(const std::string& path, mode_t mode) {
    if (!S_ISDIR(mode)) {
      take(path, "hooks");
      return;
    }
    const Result<UniqueFd> directory = open_listable(root_, path);
    const Result<std::vector<std::string>> names =
        directory ? list_directory(directory->get(), path, kMostNewHooks) : fail(directory.error());
    if (!names || names->size() >= kMostNewHooks) {
      take(path, "hooks");
      return;
    }
    for (const std::string& name : *names) {
      if (!is_sample_hook(name)) take(git_below(path, name), "a hook");
    }
  }

  void judge_directories(const std::string& git, const GitGuard::Before& before) {
    for (const std::string_view name : kGitDirectories) {
      const std::string path = git_below(git, name);
      if (before.links.contains(std::string(name)) || !S_ISLNK(mode_of(path))) continue;
      take(path, "a symlink in the place of a directory of git's");
    }
  }

  void judge_todo(const std::string& path, const std::string& before) {
    const mode_t mode = mode_of(path);
    if (mode == 0 || (!before.empty() && git_todo_identity(root_, path) == before)) return;
    const Result<std::string> text = read_git_file(root_, path);
    if (!text) {
      take(path, "instructions that cannot be read");
      return;
    }
    const std::optional<std::string> kept = without_exec_lines(*text);
    if (!kept) return;
    if (rewrite_git_file(root_, path, *kept)) {
      report(path, "commands in the instructions of a rebase", "made comments");
    } else {
      take(path, "commands in the instructions of a rebase");
    }
  }

  const GitGuard& guard_;
  const GitGuard::Tree& tree_;
  GitReview& review_;
  int root_;
  std::set<std::string> found_;
};

GitReview GitGuard::review(std::chrono::steady_clock::time_point deadline) const {
  GitReview review;
  for (const Tree& tree : trees_) GitReviewer(*this, tree, review).run(deadline);
  return review;
}

}  // namespace sallyport
