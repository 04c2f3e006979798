#include "gate/git_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "core/text/printable.h"
#include "core/view/git_parts.h"
#include "core/view/paths.h"
#include "gate/git_files.h"
#include "os/directory.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

// Each is a mount, in some jails also a descriptor; so is each of the directories above it.
constexpr std::size_t kMostShut = 96;
constexpr std::size_t kMostHooks = 1000;
constexpr const char* kOpenHint =
    "make less of it writable with `extra_read_write`, or let the run write git's files with `GitAccess::kWritable`";

// The access that the caller's innermost option gives `path`; of two options for one path, the stricter.
RepoAccess access_of(const Plan& plan, const fs::path& path) {
  RepoAccess access = RepoAccess::kReadOnly;
  std::size_t innermost = 0;
  const auto consider = [&](const fs::path& root, RepoAccess wish) {
    if (!is_inside(path, root) || root.native().size() < innermost) return;
    const bool same = root.native().size() == innermost;
    access = same && wish == RepoAccess::kWritable ? access : wish;
    innermost = root.native().size();
  };
  consider(plan.repo, plan.repo_access);
  for (const fs::path& root : plan.extra_read_write) consider(root, RepoAccess::kWritable);
  for (const fs::path& root : plan.extra_read_only) consider(root, RepoAccess::kReadOnly);
  return access;
}

std::vector<fs::path> writable_roots(const Plan& plan) {
  std::vector<fs::path> roots;
  if (plan.repo_access == RepoAccess::kWritable) roots.push_back(plan.repo);
  roots.insert(roots.end(), plan.extra_read_write.begin(), plan.extra_read_write.end());
  std::ranges::sort(roots, {}, [](const fs::path& path) { return path.native().size(); });
  std::vector<fs::path> outermost;
  for (fs::path& root : roots) {
    const bool covered = std::ranges::any_of(outermost, [&](const fs::path& one) { return is_inside(root, one); });
    if (!covered) outermost.push_back(std::move(root));
  }
  return outermost;
}

bool is_there(const fs::path& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

bool looks_like_git(const fs::path& path) {
  if (path.filename() == ".git") return true;
  return is_there(path / "HEAD") &&
         ((is_there(path / "objects") && is_there(path / "refs")) || is_there(path / "commondir"));
}

// If a writable place is itself such a part, the caller needs another option.
Status refuse_parts(const fs::path& root) {
  struct stat info{};
  bool is_part = root.filename() == ".git" && ::lstat(root.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
  for (fs::path below = root; !is_part && below.has_relative_path(); below = below.parent_path()) {
    constexpr std::array kNames = {"config", "config.worktree", "hooks", "info", "commondir", "gitdir"};
    const bool named = std::ranges::find(kNames, below.filename()) != kNames.end();
    is_part = named && looks_like_git(below.parent_path());
  }
  if (!is_part) return {};
  return fail(invalid_request("extra_read_write",
                              fmt::format("git would execute what is written to {}", printable(root.native())),
                              "add `GitAccess::kWritable` if that is meant"));
}

std::string file_identity(const struct stat& info) {
  return fmt::format("{}:{}:{}.{}", info.st_dev, info.st_ino, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

}  // namespace

std::string git_todo_identity(int root, const std::string& path) {
  const UniqueFd fd(openat2_within(root, path.c_str(), O_PATH | O_NOFOLLOW));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) return {};
  return file_identity(info);
}

Result<GitGuard> GitGuard::look(const Plan& plan) {
  GitGuard guard;
  const std::vector<fs::path> roots = writable_roots(plan);
  if (roots.empty()) return guard;
  if (plan.git_access == GitAccess::kWritable) {
    guard.weakness_ = "the call may write git's own files";
    return guard;
  }
  ::clock_gettime(CLOCK_REALTIME_COARSE, &guard.started_);  // the clock of the kernel's time stamps
  // At most a quarter of the run's time: a tree that takes longer could not be reviewed in time either.
  guard.deadline_ = std::chrono::steady_clock::now() + plan.limits.wall / 4;
  for (const fs::path& root : roots) {
    TRY(refuse_parts(root));
    TRY(guard.add_tree(plan, root));
  }
  for (const fs::path& root : plan.extra_read_write) TRY(refuse_parts(root));
  return guard;
}

Status GitGuard::add_tree(const Plan& plan, const fs::path& path) {
  UniqueFd root = TRY(open_exactly(path, O_PATH));
  struct stat info{};
  if (::fstat(root.get(), &info) != 0) return fail(system_error("stat", path.native(), errno));
  if (!S_ISDIR(info.st_mode)) return {};
  Tree tree{.path = path, .root = std::move(root)};
  const GitScan scan = scan_for_git(
      tree.root.get(), {.deadline = deadline_, .most_found = kMostShut, .root_is_git = path.filename() == ".git"});
  if (!scan.incomplete.empty()) {
    return fail(guarantee_unavailable(
        Guarantee::kFsGitProtected,
        fmt::format("{} cannot be searched for git directories: {}", printable(path.native()), scan.incomplete),
        kOpenHint));
  }
  for (const FoundGit& found : scan.found) TRY(note(plan, tree, found));
  if (shut_.size() + pinned_.size() > kMostShut) {
    return fail(guarantee_unavailable(
        Guarantee::kFsGitProtected,
        fmt::format("{} holds more git directories than a jail can protect", printable(path.native())), kOpenHint));
  }
  trees_.push_back(std::move(tree));
  return {};
}

Status GitGuard::note(const Plan& plan, Tree& tree, const FoundGit& found) {
  const fs::path path = found.path.empty() ? tree.path : tree.path / found.path;
  Before before{.kind = found.kind, .is_read_only = access_of(plan, path) == RepoAccess::kReadOnly};
  if (before.is_read_only) {
    tree.known.emplace(found.path, std::move(before));
    return {};
  }
  if (found.kind == GitKind::kSymlink) {
    before.links.emplace("", TRY(read_git_link(tree.root.get(), found.path)));
  } else if (found.kind == GitKind::kDirectory) {
    if (!found.path.empty()) pinned_.push_back(path);
    for (const std::string_view part : kGitParts) note_part(plan, tree, found.path, part, before);
    for (const std::string_view name : kGitDirectories) note_part(plan, tree, found.path, name, before);
    for (const std::string_view todo : kGitTodos) {
      const std::string name = git_below(found.path, todo);
      before.todos.emplace(todo, git_todo_identity(tree.root.get(), name));
    }
  } else {
    shut(plan, path);
    check_hard_links(plan, tree.root.get(), found.path, path);
  }
  tree.known.emplace(found.path, std::move(before));
  return {};
}

void GitGuard::note_part(const Plan& plan, const Tree& tree, const std::string& git, std::string_view part,
                         Before& before) {
  const std::string name = git_below(git, part);
  const UniqueFd fd(openat2_within(tree.root.get(), name.c_str(), O_PATH | O_NOFOLLOW));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) return;
  const bool is_part = std::ranges::find(kGitParts, part) != std::end(kGitParts);
  if (S_ISLNK(info.st_mode)) {
    Result<std::string> text = read_git_link(tree.root.get(), name);
    if (text) before.links.emplace(part, *std::move(text));
    // We cannot mount over a symlink, but over its target. The review handles the symlink itself.
    std::error_code error;
    const fs::path target = fs::canonical(tree.path / name, error);
    if (is_part && !error) shut(plan, target);
    return;
  }
  if (!is_part) return;  // git must write there
  before.parts.emplace(part);
  shut(plan, tree.path / name);
  check_hard_links(plan, tree.root.get(), name, tree.path / name);
  if (part.starts_with("config")) note_programs(plan, tree, git, part);
}

// The configuration may name files of the repo: husky's .husky, a tracked file that is included, a filter ./tools/clean.
void GitGuard::note_programs(const Plan& plan, const Tree& tree, const std::string& git, std::string_view part) {
  const Result<std::string> text = read_git_file(tree.root.get(), git_below(git, part));
  if (!text) {
    weakness_ = text.error().message;
    return;
  }
  const fs::path git_path = git.empty() ? tree.path : tree.path / git;
  for (const NamedProgram& named : programs_in_git_config(*text)) {
    if (named.text.starts_with('-') || named.text.size() >= 4096) continue;
    for (const fs::path& base : {git_path.parent_path(), git_path}) {
      const fs::path path = (base / named.text).lexically_normal();
      if (is_inside(git_path, path) || access_of(plan, path) == RepoAccess::kReadOnly) continue;
      std::error_code error;
      const fs::path target = fs::canonical(path, error);
      if (error) {
        if (named.is_path) absent_.push_back(path);
        continue;
      }
      if (!named.is_path && !fs::is_regular_file(target, error)) continue;
      if (target != path && access_of(plan, target) == RepoAccess::kWritable) {
        weakness_ =
            fmt::format("git's configuration names {}, which is reached by a symlink", printable(path.native()));
      }
      shut(plan, target);
      if (is_inside(target, tree.path)) {
        check_hard_links(plan, tree.root.get(), target.lexically_relative(tree.path), target);
      }
    }
  }
}

void GitGuard::shut(const Plan& plan, const fs::path& path) {
  const bool known = std::ranges::find(shut_, path) != shut_.end();
  if (!known && access_of(plan, path) == RepoAccess::kWritable) shut_.push_back(path);
}

// A second name of the same file in a writable place would bypass the mount.
void GitGuard::check_hard_links(const Plan& plan, int root, const std::string& name, const fs::path& path) {
  const UniqueFd fd(openat2_within(root, name.c_str(), O_PATH | O_NOFOLLOW));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) return;
  if (S_ISREG(info.st_mode) && info.st_nlink > 1) {
    weakness_ = fmt::format("{} has another name somewhere (a hard link)", printable(path.native()));
  }
  if (S_ISDIR(info.st_mode)) note_hooks(plan, root, name, path);
}

void GitGuard::note_hooks(const Plan& plan, int root, const std::string& name, const fs::path& path) {
  const Result<UniqueFd> directory = open_listable(root, name);
  const Result<std::vector<std::string>> names =
      directory ? list_directory(directory->get(), name, kMostHooks) : fail(directory.error());
  if (!names || names->size() >= kMostHooks) {
    weakness_ = fmt::format("{} cannot be listed", printable(path.native()));
    return;
  }
  for (const std::string& one : *names) {
    struct stat about{};
    if (is_sample_hook(one) || ::fstatat(directory->get(), one.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(about.st_mode) && about.st_nlink > 1) {
      weakness_ = fmt::format("{} has another name somewhere (a hard link)", printable((path / one).native()));
    }
    if (S_ISLNK(about.st_mode)) note_linked_hook(plan, path / one);
  }
}

// Projects link their hooks to scripts of the repo: then those scripts are the programs.
void GitGuard::note_linked_hook(const Plan& plan, const fs::path& hook) {
  std::error_code error;
  const fs::path text = fs::read_symlink(hook, error);
  const fs::path named = (hook.parent_path() / text).lexically_normal();
  const fs::path target = fs::canonical(hook, error);
  if (error) {
    if (access_of(plan, named) == RepoAccess::kWritable) absent_.push_back(named);
    return;
  }
  if (target != named && access_of(plan, target) == RepoAccess::kWritable) {
    weakness_ = fmt::format("the hook {} is reached by more than one symlink", printable(hook.native()));
  }
  shut(plan, target);
}

}  // namespace sallyport
