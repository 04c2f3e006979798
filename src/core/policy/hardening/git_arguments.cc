// What a caller may pass after a git command: no option and no argument that runs a program that the caller or the repo
// chooses, or writes a file outside the repo. From the manual pages of git 2.39 and 2.55, command by command.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/policy/hardening/git_commands.h"
#include "core/policy/hardening/git_words.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::string_view kRunsProgram = "it names a program to run";
constexpr std::string_view kRunsDriver = "it runs a command from the repo's configuration";
constexpr std::string_view kWritesFile = "it writes to the file that its argument names";
constexpr std::string_view kContinues = "it obeys a todo list that may have come with the repo, exec lines included";
constexpr std::string_view kReachable = "only the repo's own configuration can be read";

// git accepts any unambiguous prefix of a long option, so "--upload-pa" is refused as well.
constexpr auto kRefusedOptions = std::to_array<RefusedGitOption>({
    {"--upload-pack", kRunsProgram},
    {"--receive-pack", kRunsProgram},
    {"--exec", kRunsProgram},
    {"--open-files-in-pager", kRunsProgram},
    {"--help", "it starts a manual viewer the repo can choose"},
    {"--ext-diff", kRunsDriver},
    {"--textconv", kRunsDriver},
    {"--trailer", kRunsDriver},
    {"--recurse-submodules", kRunsDriver},
    {"--output", kWritesFile},
    {"--output-directory", kWritesFile, "format-patch"},
    {"--separate-git-dir", kWritesFile},
    {"--template", "it plants hooks"},
    {"--config", "it sets configuration", "clone"},
    {"--recursive", kRunsDriver, "clone"},
    {"--filters", kRunsDriver, "cat-file"},
    {"--verbose", kRunsDriver, "status"},
    {"--verbose", kRunsDriver, "commit"},
    {"--remote", kRunsProgram, "archive"},
    {"--unsafe-paths", "it writes outside the repo", "apply"},
    {"--build-fake-ancestor", kWritesFile, "apply"},
    {"--export-marks", kWritesFile, "fast-export"},
    {"--import-marks", "it reads a file that may lie outside the repo", "fast-export"},
    {"--import-marks-if-exists", "it reads a file that may lie outside the repo", "fast-export"},
    {"--index-output", kWritesFile, "read-tree"},
    {"--object-dir", "it writes to a directory that may lie outside the repo", "commit-graph"},
    {"--continue", kContinues, "rebase"},
    {"--skip", kContinues, "rebase"},
    {"--edit-todo", kContinues, "rebase"},
    {"--show-current-patch", kRunsDriver, "rebase"},
    {"--continue", kContinues, "cherry-pick"},
    {"--skip", kContinues, "cherry-pick"},
    {"--continue", kContinues, "revert"},
    {"--skip", kContinues, "revert"},
    // With GIT_CONFIG_GLOBAL=/dev/null a write as root would rename a file over the null device.
    {"--global", kReachable, "config"},
    {"--system", kReachable, "config"},
    {"--file", kWritesFile, "config"},
    {"--edit", "there is no editor", "config"},
});

// Whole options that are also a prefix of a refused option, except where git knows only the longer one.
struct WholeOption {
  std::string_view option;
  std::string_view except;
};
constexpr auto kWholeOptions = std::to_array<WholeOption>({{"--text", "cat-file"}, {"--filter", "cat-file"}});

// These only read, and the gate first overrides the configuration of each submodule (GitQuestion::enters_submodules).
bool recurses_only_to_read(const GitCommand& command, std::string_view argument) {
  return (command.name == "grep" || command.name == "ls-files") && may_abbreviate(argument, "--recurse-submodules");
}

// git's own merge strategies. Any other name is a program `git-merge-NAME` in PATH, or an alias.
constexpr auto kStrategies =
    std::to_array<std::string_view>({"octopus", "ort", "ours", "recursive", "resolve", "subtree"});

constexpr std::string_view kLeaveOut = "leave it out; a file of that name is written ./NAME";

bool is_whole(const GitCommand& command, std::string_view argument) {
  return std::ranges::any_of(kWholeOptions, [&](const WholeOption& whole) {
    return split_long(argument).name == whole.option && command.name != whole.except;
  });
}

const RefusedGitOption* find_refused(const GitCommand& command, std::string_view argument) {
  if (is_whole(command, argument) || recurses_only_to_read(command, argument)) return nullptr;
  const auto* const found = std::ranges::find_if(kRefusedOptions, [&](const RefusedGitOption& refused) {
    return (refused.command.empty() || refused.command == command.name) && may_abbreviate(argument, refused.option);
  });
  return found == kRefusedOptions.end() ? nullptr : found;
}

std::optional<char> find_refused_short(const GitCommand& command, std::string_view argument) {
  for (const char flag : command.refused_shorts) {
    if (has_short(argument, flag, command.shorts_with_value)) return flag;
  }
  return std::nullopt;
}

std::string_view next_of(Argv arguments, std::size_t i) {
  return i + 1 < arguments.size() ? std::string_view(arguments[i + 1]) : std::string_view();
}

// The value of an option, attached or in the next word: "--format=tar" or "--format" "tar".
std::string_view value_after(Argv arguments, std::size_t i) {
  const LongOption option = split_long(arguments[i]);
  return option.has_value ? option.value : next_of(arguments, i);
}

// The strategy that an argument names, if any. In a cluster such as "-nsours" the value follows the s.
std::optional<std::string_view> strategy_in(const GitCommand& command, Argv arguments, std::size_t i) {
  const std::string_view argument = arguments[i];
  if (may_abbreviate(argument, "--strategy")) return value_after(arguments, i);
  const bool has_flag = command.name == "merge" || command.name == "pull" || command.name == "rebase";
  if (!has_flag || !has_short(argument, 's', "mFXCSjo")) return std::nullopt;
  const std::string_view rest = argument.substr(argument.find('s') + 1);
  return rest.empty() ? next_of(arguments, i) : rest;
}

bool takes_strategy(const GitCommand& command) {
  constexpr auto kNames = std::to_array<std::string_view>({"cherry-pick", "merge", "pull", "rebase", "revert"});
  return std::ranges::find(kNames, command.name) != kNames.end();
}

Status check_value(const GitCommand& command, Argv arguments, std::size_t i) {
  const std::string& argument = arguments[i];
  if (command.name == "archive" && may_abbreviate(argument, "--format")) {
    const std::string_view format = value_after(arguments, i);
    if (format != "tar" && format != "zip") {
      return fail(refused_argument("git", argument, "other formats run a command from the repo's configuration",
                                   "use --format=tar or --format=zip"));
    }
  }
  if (may_abbreviate(argument, "--submodule") && split_long(argument).value == "diff") {
    return fail(refused_argument("git", argument, kRunsDriver, "use --submodule=log"));
  }
  if (command.name == "format-patch" && may_abbreviate(argument, "--suffix") &&
      value_after(arguments, i).find('/') != std::string_view::npos) {
    return fail(
        refused_argument("git format-patch", argument, "a suffix with a slash writes elsewhere", "use a plain suffix"));
  }
  if (takes_strategy(command)) {
    const std::optional<std::string_view> strategy = strategy_in(command, arguments, i);
    if (strategy && std::ranges::find(kStrategies, *strategy) == kStrategies.end()) {
      return fail(refused_argument("git", argument, "another strategy than git's own is a program to run",
                                   "use ort, ours, subtree, resolve, recursive or octopus"));
    }
  }
  return {};
}

Status check_options(const GitCommand& command, Argv options) {
  const std::string tool = fmt::format("git {}", command.name);
  for (const std::size_t i : git_option_words(command, options)) {
    if (const RefusedGitOption* const refused = find_refused(command, options[i])) {
      return fail(refused_argument(tool, options[i], refused->why, kLeaveOut));
    }
    if (const std::optional<char> flag = find_refused_short(command, options[i])) {
      return fail(refused_argument(
          tool, options[i], fmt::format("-{} runs a program, sets configuration or writes a file", *flag), kLeaveOut));
    }
    TRY(check_value(command, options, i));
  }
  return {};
}

// Checks every argument that could be a path to write to; an option's value could be one, too.
Status check_places(std::string_view tool, Argv arguments) {
  for (const std::string& argument : arguments) {
    if (is_option(argument) || argument.find("://") != std::string::npos || stays_below(argument)) continue;
    return fail(refused_argument(tool, argument, "it may lie outside the repo",
                                 "give a path inside the working directory, without .."));
  }
  return {};
}

bool has_option(Argv arguments, char flag, std::string_view with_value, std::span<const std::string_view> names) {
  return std::ranges::any_of(arguments, [&](const std::string& argument) {
    return has_short(argument, flag, with_value) || std::ranges::find(names, argument) != names.end();
  });
}

// The first argument that is not an option; "-" is not one.
std::string_view first_place(Argv arguments) {
  const auto found = std::ranges::find_if(arguments, [](const std::string& argument) { return !is_option(argument); });
  return found == arguments.end() ? std::string_view() : std::string_view(*found);
}

// Checks verbs and paths of the commands that write to a given path.
Status check_verb(const GitCommand& command, Argv arguments) {
  const std::string_view verb = first_place(arguments);
  if (command.name == "submodule" && (arguments.empty() || arguments.front() != "status")) {
    return fail(refused_argument("git", "submodule",
                                 "only `submodule status` runs no command from the repo's configuration",
                                 "write submodule status"));
  }
  // An older git reads `reflog list …` as `reflog show list …`, which can show differences.
  if (command.name == "reflog" && verb == "list" && arguments.size() > 1) {
    return fail(refused_argument("git reflog", arguments.back(), "`reflog list` takes no arguments", "leave it out"));
  }
  if (command.name == "init" || command.name == "clone")
    return check_places(fmt::format("git {}", command.name), arguments);
  if (command.name == "worktree") {
    if (verb == "repair") {
      return fail(
          refused_argument("git worktree", verb, "it writes to paths that the repo names", "repair it by hand"));
    }
    return check_places("git worktree", arguments);
  }
  // Both follow a symlink that the repo has put in place of the file.
  if (command.name == "bundle" && verb == "create" &&
      (arguments.front() != verb || first_place(arguments.subspan(1)) != "-")) {
    return fail(refused_argument("git bundle", verb, kWritesFile, "write - for the file, and take it from stdout"));
  }
  constexpr auto kToStdout = std::to_array<std::string_view>({"--stdout", "--object-id"});
  if (command.name == "merge-file" && !has_option(arguments, 'p', "L", kToStdout)) {
    return fail(
        refused_argument("git", "merge-file", "it writes to its first file", "add -p, and take it from stdout"));
  }
  return {};
}

}  // namespace

std::span<const RefusedGitOption> refused_git_options() { return kRefusedOptions; }

Status check_git_arguments(const GitCommand& command, Argv arguments) {
  TRY(check_verb(command, arguments));
  return check_options(command, arguments);
}

}  // namespace sallyport::hardening
