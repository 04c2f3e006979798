#include <fmt/format.h>

#include <deque>

#include "core/policy/hardening/git_commands.h"
#include "core/policy/hardening/git_config.h"
#include "core/policy/hardening/git_globals.h"
#include "core/policy/hardening/git_keys.h"
#include "core/policy/hardening/git_overrides.h"
#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {
namespace {

using GitFact = HardeningFact::Kind;

// Facts hold views; this holds the composed text for the program's lifetime.
struct Facts {
  std::deque<std::string> texts{};
  std::vector<HardeningFact> rows{};

  void add(GitFact kind, std::string what, std::string_view why) {
    rows.push_back({.kind = kind, .what = texts.emplace_back(std::move(what)), .why = why});
  }
};

void add_forced(Facts& facts) {
  for (const GitSetting& setting : git_settings()) {
    facts.add(GitFact::kForced, fmt::format("-c {}={}", setting.key, setting.value),
              "outranks the repo's own value, which could name a program or start one");
  }
  for (const EnvVar& var : git_env()) {
    facts.add(GitFact::kForced, fmt::format("{}={}", var.name, var.value),
              "outranks the caller's environment and the repo's configuration");
  }
  facts.add(GitFact::kForced, "--no-ext-diff --no-textconv", "a diff would run the repo's drivers");
}

void add_refused(Facts& facts) {
  facts.add(GitFact::kRefused, "-c of a key that is not on the closed list",
            "it would win over the gate's own settings");
  facts.add(GitFact::kRefused, "-C, --git-dir, --work-tree outside the repo",
            "git would obey the configuration of a repo that was not checked");
  facts.add(GitFact::kRefused, "a command that is not on the closed list", "git looks it up as an alias of the repo");
  facts.add(GitFact::kRefused, "fsck, fetch, pull, remote, submodule where a skipList is configured",
            "git prints lines of the file it names, and no setting outranks it");
  for (const RefusedGitOption& refused : refused_git_options()) {
    facts.add(GitFact::kRefused,
              fmt::format("{}{}{}", refused.command, refused.command.empty() ? "" : " ", refused.option), refused.why);
  }
  for (const GitCommand& command : git_commands()) {
    for (const char flag : command.refused_shorts) {
      facts.add(GitFact::kRefused, fmt::format("{} -{}", command.name, flag),
                "it runs a program, sets configuration or writes a file");
    }
  }
  facts.add(GitFact::kRefused, "archive --format other than tar and zip", "it runs a command from the configuration");
  facts.add(GitFact::kRefused, "--submodule=diff", "it starts git in each submodule, with that one's drivers");
  facts.add(GitFact::kRefused, "--strategy other than git's own", "another one is a program to run");
  facts.add(GitFact::kNeutralised, "*.patch of format-patch", "a symlink planted there would lead the write elsewhere");
  facts.add(GitFact::kRefused, "format-patch --suffix with a slash", "it writes elsewhere");
  facts.add(GitFact::kRefused, "submodule, all but status", "the others run commands from the configuration");
  facts.add(GitFact::kRefused, "init, clone, worktree with a path that may lie outside the repo", "they write there");
  facts.add(GitFact::kRefused, "worktree repair", "it writes to paths that the repo names");
  facts.add(GitFact::kRefused, "bundle create to a file", "it writes there, through a symlink of the repo's, too");
  facts.add(GitFact::kRefused, "merge-file without -p", "it writes to its first file");
  facts.add(GitFact::kRefused, "a repo with includeIf.onbranch or .hasconfig", "another file may be included later");
  facts.add(GitFact::kRefused, "a repo with extensions.refStorage at another place", "refs would be written there");
  facts.add(GitFact::kRefused, "a repo whose configuration git cannot list", "what it would run is not known");
}

void add_neutralised(Facts& facts) {
  for (const GitKeyRule& rule : git_key_rules()) facts.add(GitFact::kNeutralised, std::string(rule.pattern), rule.why);
  facts.add(GitFact::kNeutralised, "core.worktree",
            "moves the work tree anywhere on the host; the gate names it instead");
  facts.add(GitFact::kNeutralised, "an unknown key in a section that names programs", "a newer git may know it");
  facts.add(GitFact::kNeutralised, "an unknown key whose name ends as those of programs and files do",
            "a newer git may know it");
}

}  // namespace

std::vector<HardeningFact> git_facts() {
  static const Facts facts = [] {
    Facts made;
    add_forced(made);
    add_refused(made);
    add_neutralised(made);
    return made;
  }();
  return facts.rows;
}

AdmittedWords git_admitted() {
  AdmittedWords words;
  for (const GitCommand& command : git_commands()) words.commands.emplace_back(command.name);
  for (const GitCallerKey& key : git_caller_keys()) {
    words.options.push_back(fmt::format("-c {}={}", key.key, key.value.empty() ? "…" : key.value));
  }
  return words;
}

}  // namespace sallyport::hardening
