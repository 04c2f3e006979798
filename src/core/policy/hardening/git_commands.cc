#include "core/policy/hardening/git_commands.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/text/did_you_mean.h"

namespace sallyport::hardening {
namespace {

// A closed list, because `git x` runs the repo's alias.x (a shell command when it starts with "!") for every x that is
// no git command. Left out: commands that start other programs (bisect, filter-branch, difftool, mergetool, instaweb,
// daemon, send-email, credential, help, request-pull, interpret-trailers, maintenance …), and gc and similar
// (gc.recentObjectsHook). range-diff starts `git log` without our --no-textconv, but with the settings by which the
// gate overrides each driver that git has listed (ADR 0026). git_arguments.cc says what may follow each command.
constexpr auto kGitCommands = std::to_array<GitCommand>({
    GitCommand{"add"},
    GitCommand{"annotate", DiffOptions::kTextconv},
    GitCommand{"apply"},
    GitCommand{"archive", DiffOptions::kNone, "o"},
    GitCommand{"blame", DiffOptions::kTextconv},
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
    GitCommand{"clone", DiffOptions::kNone, "uc", "boj"},
    GitCommand{"commit", DiffOptions::kNone, "v", "FCcmtSu"},
    GitCommand{"commit-graph"},
    GitCommand{"commit-tree"},
    GitCommand{"config", DiffOptions::kNone, "fe"},
    GitCommand{"count-objects"},
    GitCommand{"describe"},
    GitCommand{"diff", DiffOptions::kAll},
    GitCommand{"diff-files", DiffOptions::kAll},
    GitCommand{"diff-index", DiffOptions::kAll},
    GitCommand{"diff-tree", DiffOptions::kAll},
    GitCommand{"fast-export"},
    GitCommand{"fetch"},
    GitCommand{"for-each-ref"},
    GitCommand{"format-patch", DiffOptions::kAll, "o", "UlSGOvC"},
    GitCommand{"fsck"},
    GitCommand{"grep", DiffOptions::kTextconv, "O", "efABCm"},
    GitCommand{"hash-object"},
    GitCommand{"init"},
    GitCommand{"log", DiffOptions::kAll},
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
    GitCommand{"range-diff", DiffOptions::kAll},
    GitCommand{"read-tree"},
    GitCommand{"rebase", DiffOptions::kNone, "x", "XsCS"},
    GitCommand{"reflog", DiffOptions::kAll},
    GitCommand{"remote"},
    GitCommand{"reset"},
    GitCommand{"restore"},
    GitCommand{"rev-list"},
    GitCommand{"rev-parse"},
    GitCommand{"revert"},
    GitCommand{"rm"},
    GitCommand{"shortlog"},
    GitCommand{"show", DiffOptions::kAll},
    GitCommand{"show-branch"},
    GitCommand{"show-ref"},
    GitCommand{"sparse-checkout"},
    GitCommand{"stash", DiffOptions::kAll},
    GitCommand{"status", DiffOptions::kNone, "v", "u"},
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
    GitCommand{"whatchanged", DiffOptions::kAll},
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
