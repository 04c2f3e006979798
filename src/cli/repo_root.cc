#include "cli/repo_root.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <system_error>
#include <utility>

#include "core/text/number.h"
#include "core/text/printable.h"
#include "core/view/paths.h"
#include "sallyport/event_name.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

// What another user could have done there, in words; nullopt when no other user could.
std::optional<std::string> distrusted(const struct stat& info, const fs::path& path, NodeRole role,
                                      const RepoOwners& owners) {
  struct stat as_ours = info;
  if (owners.sudo_uid == info.st_uid) as_ours.st_uid = owners.us.uid;
  const std::optional<TrustProblem> problem = judge(as_ours, path, role, owners.us);
  if (!problem) return std::nullopt;
  return fmt::format("{} {}", printable(problem->where), problem->why);
}

NodeRole role_of(const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return NodeRole::kSymlink;
  return S_ISDIR(info.st_mode) ? NodeRole::kLookedUpIn : NodeRole::kFile;
}

// A `.git` is one file, or a symlink and what it leads to. A symlink counts as present, wherever it leads.
std::optional<std::string> distrusted_git(const struct stat& git, const fs::path& path, const RepoOwners& owners) {
  if (auto why = distrusted(git, path, role_of(git), owners)) return why;
  struct stat target{};
  if (!S_ISLNK(git.st_mode) || ::stat(path.c_str(), &target) != 0) return std::nullopt;
  return distrusted(target, path, role_of(target), owners);
}

}  // namespace

RepoOwners RepoOwners::current(const std::optional<std::string>& sudo_uid_text) {
  RepoOwners owners{.us = TrustContext::current({})};
  if (owners.us.uid == 0 && sudo_uid_text) owners.sudo_uid = whole_number<uid_t>(*sudo_uid_text);
  return owners;
}

RepoRoot find_repo_root(const fs::path& cwd, const fs::path& home, const RepoOwners& owners) {
  std::optional<dev_t> file_system;
  for (fs::path dir = cwd; dir.has_relative_path(); dir = dir.parent_path()) {
    if (!home.empty() && is_inside(home, dir)) break;
    struct stat info{};
    if (::lstat(dir.c_str(), &info) != 0) break;
    if (file_system && *file_system != info.st_dev) break;
    file_system = info.st_dev;
    const fs::path git = dir / ".git";
    struct stat found{};
    const bool there = ::lstat(git.c_str(), &found) == 0;
    if (auto why = distrusted(info, dir, NodeRole::kLookedUpIn, owners)) {
      return {.path = cwd, .ignored = there && dir != cwd ? *std::move(why) : std::string()};
    }
    if (!there) continue;
    if (auto why = distrusted_git(found, git, owners)) return {.path = cwd, .ignored = *std::move(why)};
    return {.path = std::move(dir)};
  }
  return {.path = cwd};
}

fs::path repo_around(const fs::path& directory, const Environment& environment, EventSink& events) {
  std::error_code no_home;
  const fs::path home = environment.home ? fs::canonical(*environment.home, no_home) : fs::path();
  RepoRoot root = find_repo_root(directory, home, RepoOwners::current(environment.sudo_uid));
  if (!root.ignored.empty()) {
    events.emit({.level = EventLevel::kWarning,
                 .name = event_name::kRepoGitIgnored,
                 .fields = {{"reason", root.ignored},
                            {"repo", root.path.string()},
                            {"hint", "name the repo with --repo DIR to use it anyway"}}});
  }
  return std::move(root.path);
}

}  // namespace sallyport::cli
