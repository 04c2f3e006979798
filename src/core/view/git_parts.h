// Which parts of a git directory make git execute something, as pure rules over names and texts (ADR 0021).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport {

// Parts of a git directory that name programs, are programs, or lead git to another directory with such parts. Relative
// to the git directory; "hooks" is a directory, the others are files.
inline constexpr std::string_view kGitParts[] = {"config",          "config.worktree", "hooks",
                                                 "info/attributes", "commondir",       "gitdir"};
// Directories in it that git enters: a symlink in place of one leads git elsewhere.
inline constexpr std::string_view kGitDirectories[] = {"info",         "modules",      "worktrees",
                                                       "rebase-merge", "rebase-apply", "sequencer"};
// Instructions of a rebase or cherry-pick under way; `exec` lines in them are commands.
inline constexpr std::string_view kGitTodos[] = {"rebase-merge/git-rebase-todo", "sequencer/todo"};

struct GitSetting {
  std::string key{};  // "core.fsmonitor", "remote.origin.url": section and name in lower case, middle unchanged
  std::string value{};
};

// The settings in a configuration file; nullopt when git might read it differently.
[[nodiscard]] std::optional<std::vector<GitSetting>> parse_git_config(std::string_view text);

// Why a configuration made by a run must be removed: its first setting that leads out of the tree, or that git itself
// does not write for `init`, `clone`, `worktree` and `submodule`. nullopt: it is harmless. `git_directory` is relative
// to the tree's root; core.worktree must stay inside that root.
[[nodiscard]] std::optional<std::string> harm_in_git_config(std::string_view text,
                                                            const std::filesystem::path& git_directory);

// A path that a setting names (hooks, includes), or a word of a command that it names (filters, editors …). Each may be
// a file of the repo, which then acts like a hook.
struct NamedProgram {
  std::string text{};
  bool is_path = false;  // the whole value is a path: of a file or directory, which need not exist yet
};
[[nodiscard]] std::vector<NamedProgram> programs_in_git_config(std::string_view text);

// What a `.git` file points to; nullopt when git would not accept the file.
[[nodiscard]] std::optional<std::string> gitdir_target(std::string_view text);

// The todo list with its `exec` lines turned into comments; nullopt when it has none.
[[nodiscard]] std::optional<std::string> without_exec_lines(std::string_view todo);

// For a file in a hooks directory: git never runs a file with this ending.
[[nodiscard]] inline bool is_sample_hook(std::string_view name) { return name.ends_with(".sample"); }

}  // namespace sallyport
