#include "core/hardening/git_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/did_you_mean.h"
#include "core/hardening/options.h"

namespace sallyport::hardening {
namespace {

using enum DiffOptions;

// Closed, because `git x` runs the repo's alias.x (a shell command when it starts with "!") for every x git does not
// know itself. Left out: what exists to start other programs (bisect, filter-branch, difftool, mergetool, instaweb,
// daemon, send-email, credential, help, request-pull, interpret-trailers, maintenance …), gc and its kin
// (gc.recentObjectsHook), and range-diff, which starts `git log` without our --no-textconv.
constexpr auto kGitCommands = std::to_array<GitCommand>({
    GitCommand{"add"},
    GitCommand{"annotate", kTextconv},
    GitCommand{"apply"},
    GitCommand{"archive", kNone, "o"},
    GitCommand{"blame", kTextconv},
    GitCommand{"branch"},
    GitCommand{"bundle"},
    GitCommand{"cat-file"},
    GitCommand{"check-attr"},
    GitCommand{"check-ignore"},
    GitCommand{"check-mailmap"},
    GitCommand{"check-ref-format"},
    GitCommand{"checkout"},
    GitCommand{"cherry"},
    GitCommand{"cherry-pick"},
    GitCommand{"clean"},
    GitCommand{"clone", kNone, "uc", "boj"},
    GitCommand{"commit", kNone, "v", "FCcmtSu"},
    GitCommand{"commit-graph"},
    GitCommand{"commit-tree"},
    GitCommand{"config", kNone, "fe"},
    GitCommand{"count-objects"},
    GitCommand{"describe"},
    GitCommand{"diff", kAll},
    GitCommand{"diff-files", kAll},
    GitCommand{"diff-index", kAll},
    GitCommand{"diff-tree", kAll},
    GitCommand{"fetch"},
    GitCommand{"for-each-ref"},
    GitCommand{"format-patch", kAll, "o", "UlSGOvC"},
    GitCommand{"fsck"},
    GitCommand{"grep", kTextconv, "O", "efABCm"},
    GitCommand{"hash-object"},
    GitCommand{"init"},
    GitCommand{"log", kAll},
    GitCommand{"ls-files"},
    GitCommand{"ls-remote"},
    GitCommand{"ls-tree"},
    GitCommand{"merge"},
    GitCommand{"merge-base"},
    GitCommand{"merge-file"},
    GitCommand{"merge-tree"},
    GitCommand{"mktree"},
    GitCommand{"mv"},
    GitCommand{"name-rev"},
    GitCommand{"notes"},
    GitCommand{"patch-id"},
    GitCommand{"pull"},
    GitCommand{"push"},
    GitCommand{"read-tree"},
    GitCommand{"rebase", kNone, "x", "XsCS"},
    GitCommand{"reflog", kAll},
    GitCommand{"remote"},
    GitCommand{"reset"},
    GitCommand{"restore"},
    GitCommand{"rev-list"},
    GitCommand{"rev-parse"},
    GitCommand{"revert"},
    GitCommand{"rm"},
    GitCommand{"shortlog"},
    GitCommand{"show", kAll},
    GitCommand{"show-branch"},
    GitCommand{"show-ref"},
    GitCommand{"sparse-checkout"},
    GitCommand{"stash", kAll},
    GitCommand{"status", kNone, "v", "u"},
    GitCommand{"stripspace"},
    GitCommand{"submodule"},
    GitCommand{"switch"},
    GitCommand{"symbolic-ref"},
    GitCommand{"tag"},
    GitCommand{"update-index"},
    GitCommand{"update-ref"},
    GitCommand{"var"},
    GitCommand{"verify-pack"},
    GitCommand{"version"},
    GitCommand{"whatchanged", kAll},
    GitCommand{"worktree"},
    GitCommand{"write-tree"},
});

constexpr std::string_view kRunsProgram = "it names a program to run";
constexpr std::string_view kRunsDriver = "it runs a command from the repo's configuration";
constexpr std::string_view kWritesFile = "it writes to a file of its argument's choosing";

struct RefusedOption {
  std::string_view option;
  std::string_view why;
  std::string_view command = {};  // empty: with every command
};

// git takes any unambiguous beginning of a long option, so "--upload-pa" is refused as well.
constexpr auto kRefusedOptions = std::to_array<RefusedOption>({
    RefusedOption{"--upload-pack", kRunsProgram},
    RefusedOption{"--receive-pack", kRunsProgram},
    RefusedOption{"--exec", kRunsProgram},
    RefusedOption{"--open-files-in-pager", kRunsProgram},
    RefusedOption{"--help", "it starts a manual viewer the repo can choose"},
    RefusedOption{"--ext-diff", kRunsDriver},
    RefusedOption{"--textconv", kRunsDriver},
    RefusedOption{"--trailer", kRunsDriver},
    RefusedOption{"--recurse-submodules", kRunsDriver},
    RefusedOption{"--output", kWritesFile},
    RefusedOption{"--output-directory", kWritesFile, "format-patch"},
    RefusedOption{"--separate-git-dir", kWritesFile},
    RefusedOption{"--template", "it plants hooks"},
    RefusedOption{"--config", "it sets configuration", "clone"},
    RefusedOption{"--filters", kRunsDriver, "cat-file"},
    RefusedOption{"--verbose", kRunsDriver, "status"},
    RefusedOption{"--verbose", kRunsDriver, "commit"},
    RefusedOption{"--remote", kRunsProgram, "archive"},
    // With GIT_CONFIG_GLOBAL=/dev/null a write as root would rename a file over the null device.
    RefusedOption{"--global", "only the repo's own configuration is within reach", "config"},
    RefusedOption{"--system", "only the repo's own configuration is within reach", "config"},
    RefusedOption{"--file", kWritesFile, "config"},
    RefusedOption{"--edit", "there is no editor", "config"},
});

// Whole options that are also the beginning of a refused one.
constexpr std::array<std::string_view, 2> kGitCommandsWholeOptions = {"--text", "--filter"};

constexpr std::string_view kHint = "leave it out; a file of that name is written ./NAME";

const RefusedOption* find_refused(const GitCommand& command, std::string_view argument) {
  if (std::ranges::find(kGitCommandsWholeOptions, split_long(argument).name) != kGitCommandsWholeOptions.end())
    return nullptr;
  const auto* const found = std::ranges::find_if(kRefusedOptions, [&](const RefusedOption& refused) {
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

// The value of an option, wherever it stands: "--format=tar" or "--format" "tar".
std::string_view value_of(Argv arguments, std::size_t i) {
  const LongOption option = split_long(arguments[i]);
  if (option.has_value) return option.value;
  return i + 1 < arguments.size() ? std::string_view(arguments[i + 1]) : std::string_view();
}

Status check_value(const GitCommand& command, Argv arguments, std::size_t i) {
  const std::string& argument = arguments[i];
  if (command.name == "archive" && may_abbreviate(argument, "--format")) {
    const std::string_view format = value_of(arguments, i);
    if (format != "tar" && format != "zip") {
      return fail(refused_argument("git", argument, "other formats run a command from the repo's configuration",
                                   "use --format=tar or --format=zip"));
    }
  }
  if (may_abbreviate(argument, "--submodule") && split_long(argument).value == "diff") {
    return fail(refused_argument("git", argument, kRunsDriver, "use --submodule=log"));
  }
  return {};
}

}  // namespace

const GitCommand* find_git_command(std::string_view name) {
  const auto* const found = std::ranges::find(kGitCommands, name, &GitCommand::name);
  return found == kGitCommands.end() ? nullptr : found;
}

std::string git_command_hint(std::string_view name) {
  std::vector<std::string_view> names;
  for (const GitCommand& command : kGitCommands) names.push_back(command.name);
  const std::string suggestion = did_you_mean(name, names);
  return suggestion.empty() ? "git's own commands for reading and changing a repo are known; aliases are not"
                            : suggestion;
}

Status check_git_arguments(const GitCommand& command, Argv arguments) {
  if (command.name == "submodule" && (arguments.empty() || arguments.front() != "status")) {
    return fail(refused_argument("git", "submodule",
                                 "only `submodule status` runs no command from the repo's configuration",
                                 "write submodule status"));
  }
  const Argv options = arguments.first(count_option_arguments(arguments));
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (const RefusedOption* const refused = find_refused(command, options[i])) {
      return fail(refused_argument(fmt::format("git {}", command.name), options[i], refused->why, kHint));
    }
    if (const std::optional<char> flag = find_refused_short(command, options[i])) {
      return fail(refused_argument(fmt::format("git {}", command.name), options[i],
                                   fmt::format("-{} runs a program, sets configuration or writes a file", *flag),
                                   kHint));
    }
    TRY(check_value(command, options, i));
  }
  return {};
}

}  // namespace sallyport::hardening
