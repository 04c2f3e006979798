#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/hardening/git_commands.h"
#include "core/hardening/git_config.h"
#include "core/hardening/hardeners.h"
#include "core/hardening/options.h"

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

constexpr std::array<std::string_view, 2> kDiffFlags = {"--no-ext-diff", "--no-textconv"};

// Pure code cannot follow a path; one that names neither the root nor a parent starts inside the working directory.
bool stays_below(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (path.substr(0, slash) == "..") return false;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return true;
}

Status check_global_path(std::string_view option, std::string_view path) {
  if (stays_below(path)) return {};
  return fail(refused_argument("git", option, fmt::format("'{}' may lie outside the repo", path),
                               "choose the working directory in the request instead, or a relative path without .."));
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
    } else if (argument == "-C" || std::ranges::find(kPathOptions, argument) != kPathOptions.end()) {
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

}  // namespace

Result<HardenedCommand> harden_git(Argv argv) {
  std::vector<std::string> out = {argv.front()};
  std::ranges::move(fixed_arguments(), std::back_inserter(out));
  const Argv arguments = argv.subspan(1);
  const bool alone = arguments.empty() ||
                     (arguments.size() == 1 && std::ranges::find(kGitAlone, arguments.front()) != kGitAlone.end());
  if (alone) {
    out.insert(out.end(), arguments.begin(), arguments.end());
    return HardenedCommand{.argv = std::move(out), .env = git_env()};
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
  return HardenedCommand{.argv = std::move(out), .env = git_env()};
}

}  // namespace sallyport::hardening
