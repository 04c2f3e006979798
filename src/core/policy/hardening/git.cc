#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/policy/hardening/git_commands.h"
#include "core/policy/hardening/git_config.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

// Options before the command that only narrow what git does. All others are refused: -c, --config-env, --exec-path,
// --paginate, --namespace and whatever a later git adds.
constexpr std::array<std::string_view, 10> kGlobalFlags = {"--no-pager",
                                                           "-P",
                                                           "--bare",
                                                           "--no-replace-objects",
                                                           "--literal-pathspecs",
                                                           "--glob-pathspecs",
                                                           "--noglob-pathspecs",
                                                           "--icase-pathspecs",
                                                           "--no-optional-locks",
                                                           "--no-advice"};
constexpr std::array<std::string_view, 2> kPathOptions = {"--git-dir", "--work-tree"};
constexpr std::array<std::string_view, 3> kGitAlone = {"--version", "-v", "version"};

// They run `git status` or its like in each submodule that is checked out.
constexpr auto kEntersSubmodules = std::to_array<std::string_view>(
    {"add",    "checkout", "cherry-pick", "commit", "describe",  "diff",   "diff-files", "diff-index",
     "fetch",  "merge",    "mv",          "pull",   "push",      "rebase", "reset",      "restore",
     "revert", "rm",       "stash",       "status", "submodule", "switch", "worktree"});

// They can check out another commit than the one that is.
constexpr auto kChangesIndex = std::to_array<std::string_view>(
    {"checkout", "cherry-pick", "merge", "pull", "rebase", "reset", "restore", "revert", "stash", "switch"});

constexpr std::array<std::string_view, 2> kDiffFlags = {"--no-ext-diff", "--no-textconv"};

Status check_global_path(std::string_view option, std::string_view path) {
  if (stays_below(path)) return {};
  return fail(refused_argument("git", option, fmt::format("'{}' may lie outside the repo", path),
                               "choose the working directory in the request instead, or a relative path without .."));
}

bool takes_separate_path(std::string_view argument) {
  return argument == "-C" || std::ranges::find(kPathOptions, argument) != kPathOptions.end();
}

// How many of the caller's arguments stand before the command's name.
Result<std::size_t> count_global_options(Argv arguments) {
  std::size_t i = 0;
  while (i < arguments.size() && is_option(arguments[i])) {
    const std::string& argument = arguments[i];
    const LongOption option = split_long(argument);
    if (std::ranges::find(kGlobalFlags, argument) != kGlobalFlags.end()) {
      i += 1;
    } else if (std::ranges::find(kPathOptions, option.name) != kPathOptions.end() && option.has_value) {
      TRY(check_global_path(option.name, option.value));
      i += 1;
    } else if (takes_separate_path(argument)) {
      TRY(check_global_path(argument, i + 1 < arguments.size() ? std::string_view(arguments[i + 1]) : ""));
      i += 2;
    } else {
      return fail(refused_argument("git", argument, "not one of the options known to be harmless before the command",
                                   "leave it out; the gate sets git's configuration itself"));
    }
  }
  return i;
}

// Where the diff options go: behind the command, or behind its own verb where it has some (`stash show`).
std::size_t diff_options_position(const GitCommand& command, Argv arguments, std::size_t command_at) {
  const std::string_view verb = command_at + 1 < arguments.size() ? std::string_view(arguments[command_at + 1]) : "";
  const bool has_verb =
      (command.name == "stash" && (verb == "show" || verb == "list")) || (command.name == "reflog" && verb == "show");
  return command_at + (has_verb ? 2 : 1);
}

bool takes_diff_options(const GitCommand& command, Argv arguments, std::size_t command_at) {
  const std::string_view verb = command_at + 1 < arguments.size() ? std::string_view(arguments[command_at + 1]) : "";
  if (command.name == "stash") return verb == "show" || verb == "list";
  if (command.name == "reflog") return verb != "expire" && verb != "delete" && verb != "exists";
  return command.diff != DiffOptions::kNone;
}

std::vector<std::string> fixed_arguments() {
  std::vector<std::string> fixed = {"--no-pager"};
  for (const GitSetting& setting : git_settings()) {
    fixed.emplace_back("-c");
    fixed.push_back(fmt::format("{}={}", setting.key, setting.value));
  }
  return fixed;
}

// format-patch writes files of fixed names into the directory it stands in; a repo can have made one of them a symlink.
std::vector<FileRule> written_files(std::string_view command, Argv globals, Argv options) {
  if (command != "format-patch") return {};
  std::string directory = ".";
  for (std::size_t i = 0; i + 1 < globals.size(); ++i) {
    if (globals[i] == "-C") directory = (std::filesystem::path(directory) / globals[i + 1]).native();
  }
  const bool other_names = std::ranges::any_of(options, [](const std::string& option) {
    return may_abbreviate(option, "--suffix") || may_abbreviate(option, "--numbered-files");
  });
  return {{.kind = FileRule::Kind::kOutput,
           .path = directory + (other_names ? "/*" : "/*.patch"),
           .what = "git format-patch would write",
           .hint = "remove what stands there, or write to --stdout"}};
}

}  // namespace

Result<HardenedCommand> harden_git(Argv argv, const GitConfiguration& git) {
  std::vector<std::string> out = {argv.front()};
  std::ranges::move(fixed_arguments(), std::back_inserter(out));
  GitArguments learnt = as_arguments(git.overrides);
  std::ranges::move(learnt.argv, std::back_inserter(out));
  std::vector<EnvVar> env = git_env();
  std::ranges::move(learnt.env, std::back_inserter(env));
  if (!git.work_tree.empty()) env.push_back({.name = "GIT_WORK_TREE", .value = git.work_tree});
  const Argv arguments = argv.subspan(1);
  const bool alone = arguments.empty() ||
                     (arguments.size() == 1 && std::ranges::find(kGitAlone, arguments.front()) != kGitAlone.end());
  if (alone) {
    out.insert(out.end(), arguments.begin(), arguments.end());
    return HardenedCommand{.argv = std::move(out), .env = std::move(env)};
  }

  const std::size_t command_at = TRY(count_global_options(arguments));
  if (command_at >= arguments.size()) {
    return fail(
        refused_argument("git", arguments.back(), "no command follows the options", "name one, e.g. git status"));
  }
  const std::string& name = arguments[command_at];
  const GitCommand* const command = find_git_command(name);
  if (command == nullptr) {
    return fail(refused_argument("git", name, "not one of the commands git may run here", git_command_hint(name)));
  }
  TRY(check_git_arguments(*command, arguments.subspan(command_at + 1)));

  const std::size_t split = diff_options_position(*command, arguments, command_at);
  const Argv before = arguments.first(split);
  out.insert(out.end(), before.begin(), before.end());
  if (takes_diff_options(*command, arguments, command_at)) {
    const std::size_t skip = command->diff == DiffOptions::kTextconv ? 1 : 0;
    out.insert(out.end(), kDiffFlags.begin() + skip, kDiffFlags.end());
  }
  const Argv after = arguments.subspan(split);
  out.insert(out.end(), after.begin(), after.end());
  return HardenedCommand{.argv = std::move(out),
                         .env = std::move(env),
                         .files = written_files(name, arguments.first(command_at), arguments.subspan(command_at + 1))};
}

std::optional<GitQuestion> question_before_git(Argv argv) {
  const Argv arguments = argv.subspan(1);
  const Result<std::size_t> command_at = count_global_options(arguments);
  if (!command_at || *command_at >= arguments.size()) return std::nullopt;
  const std::string& name = arguments[*command_at];
  // They run nothing of the repo's; and who asks for the configuration is to see what it says.
  if (name == "version" || name == "config") return std::nullopt;
  GitQuestion question{.tool_is_git = true, .argv = {argv.front()}};
  question.enters_submodules = std::ranges::find(kEntersSubmodules, name) != kEntersSubmodules.end();
  question.changes_index = std::ranges::find(kChangesIndex, name) != kChangesIndex.end();
  for (std::size_t i = 0; i < *command_at; ++i) {
    const LongOption option = split_long(arguments[i]);
    const bool separate = !option.has_value && takes_separate_path(arguments[i]);
    const std::string value(separate ? std::string_view(arguments[i + 1]) : option.value);
    if (arguments[i] == "-C") question.directory /= value;
    if (option.name == "--work-tree") question.work_tree = value;
    if (option.name == "--git-dir" || arguments[i] == "--bare") question.names_git_dir = true;
    question.argv.push_back(arguments[i]);
    if (separate) question.argv.push_back(arguments[++i]);
  }
  question.argv.insert(question.argv.end(), {"config", "--list", "-z"});
  return question;
}

}  // namespace sallyport::hardening
