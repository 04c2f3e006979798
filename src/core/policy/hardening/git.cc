#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/errors.h"
#include "core/policy/hardening/git_commands.h"
#include "core/policy/hardening/git_config.h"
#include "core/policy/hardening/git_globals.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::array<std::string_view, 3> kGitAlone = {"--version", "-v", "version"};

// These run `git status` or a similar command in each checked-out submodule.
constexpr auto kEntersSubmodules = std::to_array<std::string_view>(
    {"add",    "checkout", "cherry-pick", "commit", "describe",  "diff",   "diff-files", "diff-index",
     "fetch",  "merge",    "mv",          "pull",   "push",      "rebase", "reset",      "restore",
     "revert", "rm",       "stash",       "status", "submodule", "switch", "worktree"});

// These can check out another commit.
constexpr auto kChangesIndex = std::to_array<std::string_view>(
    {"checkout", "cherry-pick", "merge", "pull", "rebase", "reset", "restore", "revert", "stash", "switch"});

// These check objects, and skip what a skip list names.
constexpr auto kObeysSkipLists = std::to_array<std::string_view>({"fetch", "fsck", "pull", "remote", "submodule"});

constexpr auto kReflogWithoutDiff =
    std::to_array<std::string_view>({"expire", "delete", "exists", "list", "drop", "write"});

// The programs that verify a signature, by the names that git itself uses. Only these commands get them: a signature is
// data of the repo, and every other command works without the programs.
constexpr auto kVerifies = std::to_array<std::string_view>({"verify-commit", "verify-tag"});
constexpr auto kVerifiers = std::to_array<std::string_view>(
    {"gpg.program=gpg", "gpg.openpgp.program=gpg", "gpg.x509.program=gpgsm", "gpg.ssh.program=ssh-keygen"});

constexpr std::array<std::string_view, 2> kDiffFlags = {"--no-ext-diff", "--no-textconv"};

// Where the diff options go: after the command, or after its verb if it has one (`stash show`).
std::size_t diff_options_position(const GitCommand& command, Argv arguments, std::size_t command_at) {
  const std::string_view verb = command_at + 1 < arguments.size() ? std::string_view(arguments[command_at + 1]) : "";
  const bool has_verb =
      (command.name == "stash" && (verb == "show" || verb == "list")) || (command.name == "reflog" && verb == "show");
  return command_at + (has_verb ? 2 : 1);
}

bool takes_diff_options(const GitCommand& command, Argv arguments, std::size_t command_at) {
  const std::string_view verb = command_at + 1 < arguments.size() ? std::string_view(arguments[command_at + 1]) : "";
  if (command.name == "stash") return verb == "show" || verb == "list";
  if (command.name == "reflog") return std::ranges::find(kReflogWithoutDiff, verb) == kReflogWithoutDiff.end();
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

// format-patch writes files of fixed names into the current directory; one of them may be a symlink in the repo.
void add_written_files(std::string_view command, const GitGlobals& globals, Argv options,
                       std::vector<FileRule>& files) {
  if (command != "format-patch") return;
  const std::string directory =
      globals.directory.empty() ? "." : (std::filesystem::path(".") / globals.directory).native();
  const bool other_names = std::ranges::any_of(options, [](const std::string& option) {
    return may_abbreviate(option, "--suffix") || may_abbreviate(option, "--numbered-files");
  });
  files.push_back({.kind = FileRule::Kind::kOutput,
                   .path = directory + (other_names ? "/*" : "/*.patch"),
                   .what = "git format-patch would write",
                   .hint = "remove what stands there, or write to --stdout"});
}

// `stash show` prints a summary unless it gets an option, and we add options.
bool needs_stat(const GitCommand& command, Argv after) {
  return command.name == "stash" &&
         std::ranges::none_of(after, [](const std::string& word) { return is_option(word); });
}

bool recurses(std::string_view command, Argv options) {
  return (command == "grep" || command == "ls-files") && std::ranges::any_of(options, [](const std::string& option) {
           return may_abbreviate(option, "--recurse-submodules");
         });
}

Status check_skip_lists(std::string_view command, const GitConfiguration& git) {
  const bool obeys = std::ranges::find(kObeysSkipLists, command) != kObeysSkipLists.end();
  if (!obeys || git.skip_lists.empty()) return {};
  return fail(invalid_request(
      "git configuration",
      fmt::format("git {} would print lines of the file that {} names", command, git.skip_lists.front()),
      "take it out of the repo's .git/config"));
}

Result<HardenedCommand> harden_git(Argv argv, const GitConfiguration& git) {
  std::vector<std::string> out = {argv.front()};
  // A branch made from a remote one would be noted in the configuration, which such a run cannot write: `git checkout` then
  // stops half way. Without the note it does everything else.
  if (git.is_shut) out.insert(out.end(), {"-c", "branch.autoSetupMerge=false"});
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

  GitGlobals globals = TRY(read_git_globals(arguments));
  const std::size_t command_at = globals.count;
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
  TRY(check_skip_lists(name, git));
  if (std::ranges::find(kVerifies, name) != kVerifies.end()) {
    for (const std::string_view program : kVerifiers) out.insert(out.end(), {"-c", std::string(program)});
  }

  const std::size_t split = diff_options_position(*command, arguments, command_at);
  const Argv before = arguments.first(split);
  const Argv after = arguments.subspan(split);
  out.insert(out.end(), before.begin(), before.end());
  if (takes_diff_options(*command, arguments, command_at)) {
    const std::size_t skip = command->diff == DiffOptions::kTextconv ? 1 : 0;
    out.insert(out.end(), kDiffFlags.begin() + skip, kDiffFlags.end());
    if (split > command_at + 1 && arguments[split - 1] == "show" && needs_stat(*command, after)) {
      out.emplace_back("--stat");
    }
  }
  out.insert(out.end(), after.begin(), after.end());
  add_written_files(name, globals, arguments.subspan(command_at + 1), globals.files);
  return HardenedCommand{.argv = std::move(out), .env = std::move(env), .files = std::move(globals.files)};
}

std::optional<GitQuestion> question_before_git(Argv argv) {
  const Argv arguments = argv.subspan(1);
  const Result<GitGlobals> globals = read_git_globals(arguments);
  if (!globals || globals->count >= arguments.size()) return std::nullopt;
  const std::string& name = arguments[globals->count];
  // These run nothing of the repo; and `git config` must show the configuration as it is.
  if (name == "version" || name == "config") return std::nullopt;
  GitQuestion question{.tool_is_git = true, .argv = {argv.front()}};
  question.enters_submodules = std::ranges::find(kEntersSubmodules, name) != kEntersSubmodules.end() ||
                               recurses(name, arguments.subspan(globals->count + 1));
  question.changes_index = std::ranges::find(kChangesIndex, name) != kChangesIndex.end();
  question.directory = globals->directory;
  question.work_tree = globals->work_tree;
  question.names_git_dir = globals->names_git_dir;
  const Argv before = arguments.first(globals->count);
  question.argv.insert(question.argv.end(), before.begin(), before.end());
  question.argv.insert(question.argv.end(), {"config", "--list", "-z"});
  return question;
}

}  // namespace

extern constinit const HardeningRow kGitHardening{.name = "git",
                                                  .harden = harden_git,
                                                  .facts = git_facts,
                                                  .git_question = question_before_git,
                                                  .admitted = git_admitted};

}  // namespace sallyport::hardening
