#include "core/policy/hardening/git_commands.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/text/did_you_mean.h"

namespace sallyport::hardening {
namespace {

using enum DiffOptions;

// A closed list, because `git x` runs the repo's alias.x (a shell command when it starts with "!") for every x that is
// no git command. Left out: commands that start other programs (bisect, filter-branch, difftool, mergetool, instaweb,
// daemon, send-email, credential, help, request-pull, interpret-trailers, maintenance …), and gc and similar
// (gc.recentObjectsHook). range-diff starts `git log` without our --no-textconv, but with the settings by which the
// gate overrides each driver that git has listed (ADR 0026). git_arguments.cc says what may follow each command.
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
    GitCommand{"fast-export"},
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
    GitCommand{"range-diff", kAll},
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
    GitCommand{"verify-commit"},
    GitCommand{"verify-pack"},
    GitCommand{"verify-tag"},
    GitCommand{"version"},
    GitCommand{"whatchanged", kAll},
    GitCommand{"worktree"},
    GitCommand{"write-tree"},
});

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

std::span<const GitCommand> git_commands() { return kGitCommands; }

}  // namespace sallyport::hardening
