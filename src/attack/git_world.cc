#include "attack/git_world.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "core/errors.h"
#include "os/file.h"

namespace sallyport::attack {
namespace {

namespace fs = std::filesystem;

struct Target {
  std::string_view attack;
  const char* path;
};
constexpr auto kTargets = std::to_array<Target>({
    Target{"git_hook_planted", ".git/hooks/post-checkout"},
    Target{"git_hooks_renamed", ".git/hooks/post-commit"},
    Target{"git_config_appended", ".git/config"},
    Target{"git_config_renamed_over", ".git/config"},
    Target{"git_config_by_alias", ".git/config"},
    Target{"git_directory_renamed", ".git/config"},
    Target{"git_config_worktree", ".git/config.worktree"},
    Target{"git_attributes", ".git/info/attributes"},
    Target{"git_commondir", ".git/commondir"},
    Target{"git_submodule_config", ".git/modules/sub/config"},
    Target{"git_submodule_hook", ".git/modules/sub/hooks/post-checkout"},
    Target{"git_submodule_symlink", ".git/modules/new/config"},
    Target{"git_worktree_commondir", ".git/worktrees/wt/commondir"},
    Target{"git_worktree_config", ".git/worktrees/wt/config.worktree"},
    Target{"git_file_retargeted", "sub/.git"},
    Target{"git_nested_config", "nested/.git/config"},
    Target{"git_new_repo_hook", "new/.git/hooks/post-checkout"},
    Target{"git_new_repo_config", "new/.git/config"},
    Target{"git_bare_repo", "new/config"},
    Target{"git_hidden_repo", "new/.git/hooks/post-checkout"},
    Target{"git_pointer_to_shipped", "new/.git"},
    Target{"git_symlink_to_shipped", "new/.git/config"},
    Target{"git_shipped_moved", "new/.git/config"},
    Target{"git_hooks_path", "tracked/pre-commit"},
    Target{"git_included_config", "tracked.inc"},
    Target{"git_filter_program", "clean.sh"},
    Target{"git_below_rw", "open/.git/config"},
});

struct File {
  const char* path;
  const char* content;
};
constexpr auto kFiles = std::to_array<File>({
    File{".git/HEAD", "ref: refs/heads/main\n"},
    File{".git/config",
         "[core]\n\tbare = false\n\thooksPath = tracked\n[include]\n\tpath = ../tracked.inc\n"
         "[filter \"x\"]\n\tclean = ./clean.sh %f\n"},
    File{".git/hooks/pre-commit.sample", "#!/bin/sh\n"},
    File{".git/modules/sub/HEAD", "ref: refs/heads/main\n"},
    File{".git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n"},
    File{".git/worktrees/wt/HEAD", "ref: refs/heads/wt\n"},
    File{".git/worktrees/wt/commondir", "../..\n"},
    File{"sub/.git", "gitdir: ../.git/modules/sub\n"},
    File{"nested/.git/HEAD", "ref: refs/heads/main\n"},
    File{"nested/.git/config", "[core]\n\tbare = false\n"},
    File{"open/.git/HEAD", "ref: refs/heads/main\n"},
    File{"open/.git/config", "[core]\n\tbare = false\n"},
    File{"shipped/evil/config", "[core]\n\tfsmonitor = ./evil.sh\n"},
    File{"tracked/README", "hooks of the project\n"},
    File{"tracked.inc", "[core]\n\tautocrlf = false\n"},
    File{"clean.sh", "#!/bin/sh\ncat\n"},
});
constexpr auto kDirectories = std::to_array<const char*>({
    ".git/objects",
    ".git/refs",
    ".git/info",
    ".git/modules/sub/objects",
    ".git/modules/sub/refs",
    "nested/.git/objects",
    "nested/.git/refs",
    "open/.git/objects",
    "open/.git/refs",
    "shipped/evil/objects",
    "shipped/evil/refs",
});

}  // namespace

Status make_git_repo(const fs::path& repo) {
  std::error_code error;
  for (const char* directory : kDirectories) {
    fs::create_directories(repo / directory, error);
    if (error) return fail(system_error("make", directory, error.value()));
  }
  for (const File& file : kFiles) {
    fs::create_directories((repo / file.path).parent_path(), error);
    const UniqueFd fd = TRY(open_path(repo / file.path, O_WRONLY | O_CREAT | O_EXCL, 0644));
    TRY(write_all(fd.get(), file.content, file.path));
  }
  return {};
}

fs::path git_target(std::string_view attack) {
  const auto found = std::ranges::find(kTargets, attack, &Target::attack);
  return found == kTargets.end() ? fs::path() : fs::path(found->path);
}

}  // namespace sallyport::attack
