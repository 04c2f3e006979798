#include "core/policy/hardening/git_overrides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "core/policy/hardening.h"
#include "core/policy/hardening/git_keys.h"
#include "sallyport/allowlist.h"

namespace sallyport::hardening {
namespace {

using namespace std::string_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<GitEntry> overrides_of(std::vector<std::string> keys) {
  std::vector<GitEntry> listed;
  for (std::string& key : keys) listed.push_back({.key = std::move(key), .value = "x"});
  const Result<std::vector<GitEntry>> overrides = git_overrides(listed);
  EXPECT_TRUE(overrides) << (overrides ? "" : overrides.error().message);
  return overrides ? *overrides : std::vector<GitEntry>();
}

bool refused(const GitEntry& entry) { return !git_overrides(std::vector{entry}); }

TEST(GitListing, IsTakenApartByteForByte) {
  const Result<std::vector<GitEntry>> entries =
      parse_git_listing("core.bare\0filter.a=b\tC.clean\nx\ny\0filter..smudge\n\0"s);
  ASSERT_TRUE(entries);
  EXPECT_THAT(*entries, ElementsAre(GitEntry{"core.bare", ""}, GitEntry{"filter.a=b\tC.clean", "x\ny"},
                                    GitEntry{"filter..smudge", ""}));
  EXPECT_TRUE(parse_git_listing("")) << "no configuration";
}

TEST(GitListing, AnythingElseIsAnError) {
  EXPECT_FALSE(parse_git_listing("core.bare\ntrue")) << "cut off";
  EXPECT_FALSE(parse_git_listing("nodot\nx\0"s));
  EXPECT_FALSE(parse_git_listing("\0"s));
}

TEST(GitOverrides, OutrankEachKeyThatNamesAProgramOrAFile) {
  EXPECT_THAT(overrides_of({"filter.lfs.clean", "filter.lfs.required", "filter.lfs.process", "filter.a.b.smudge"}),
              ElementsAre(GitEntry{"filter.a.b.smudge", ""}, GitEntry{"filter.lfs.clean", ""},
                          GitEntry{"filter.lfs.process", ""}, GitEntry{"filter.lfs.required", "false"}));
  EXPECT_THAT(overrides_of({"diff.x.textconv"}), ElementsAre(GitEntry{"diff.x.textconv", "cat"}));
  EXPECT_THAT(overrides_of({"hook.x.command", "hook.x.event"}),
              ElementsAre(GitEntry{"hook.x.command", "true"}, GitEntry{"hook.x.event", ""}));
  EXPECT_THAT(overrides_of({"http.https://h.example/.savecookies"}),
              ElementsAre(GitEntry{"http.https://h.example/.savecookies", "false"}));
  EXPECT_THAT(overrides_of({"alias.st", "alias.x y.command"}),
              ElementsAre(GitEntry{"alias.st", ""}, GitEntry{"alias.x y.command", ""}));
  EXPECT_THAT(overrides_of({"rebase.instructionformat"}), ElementsAre(GitEntry{"rebase.instructionformat", "%s"}));
}

// Seen with git 2.39.5: `git -c fsck.skipList=/dev/null fsck` still prints the first line of the file that .git/config names.
TEST(GitSkipLists, AreRefusedWhereACommandObeysThem) {
  const std::vector<GitEntry> listed = {{"core.bare", "false"},
                                        {"fsck.skiplist", "/etc/shadow"},
                                        {"fetch.fsck.skiplist", "~/.ssh/id_ed25519"},
                                        {"skiplist.x", "y"}};
  EXPECT_THAT(skip_lists_in(listed), ElementsAre("fsck.skiplist", "fetch.fsck.skiplist"));
  const GitConfiguration with{.skip_lists = skip_lists_in(listed)};
  const ToolEntry& git = *Allowlist::builtin().find("git");
  for (const char* command : {"fsck", "fetch", "pull"}) {
    EXPECT_FALSE(harden(Allowlist::builtin(), git, std::vector<std::string>{"git", command}, with)) << command;
    EXPECT_TRUE(harden(Allowlist::builtin(), git, std::vector<std::string>{"git", command}, {})) << command;  // control
  }
  EXPECT_TRUE(harden(Allowlist::builtin(), git, std::vector<std::string>{"git", "status"}, with)) << "obeys none";
}

TEST(GitOverrides, LeaveHarmlessKeysAlone) {
  EXPECT_THAT(overrides_of({"user.name",
                            "user.signingkey",
                            "core.quotepath",
                            "core.filemode",
                            "core.bare",
                            "color.ui",
                            "color.diff.meta",
                            "remote.origin.url",
                            "remote.origin.fetch",
                            "branch.main.merge",
                            "branch.main.vscode-merge-base",
                            "submodule.x.url",
                            "submodule.x.active",
                            "diff.renames",
                            "merge.conflictstyle",
                            "http.extraheader",
                            "status.showuntrackedfiles",
                            "include.path",
                            "includeif.gitdir:/x/.path",
                            "lfs.repositoryformatversion",
                            "extensions.worktreeconfig",
                            "url.https://h.example/.insteadof",
                            "core.worktree",
                            "log.date",
                            "pull.rebase"}),
              IsEmpty());
}

TEST(GitOverrides, DoNotRepeatTheFixedSettings) {
  EXPECT_THAT(overrides_of({"core.fsmonitor", "core.hookspath", "credential.helper", "safe.directory"}), IsEmpty());
}

TEST(GitOverrides, AnUnknownKeyIsOverriddenWhereProgramsAreNamed) {
  EXPECT_THAT(overrides_of({"core.newthing", "diff.x.newthing", "remote.origin.newthing", "gpg.y.newthing"}).size(),
              4U);
  EXPECT_THAT(overrides_of({"new.section.cmd", "new.helper", "new.x.sslcertfile"}).size(), 3U);
  EXPECT_THAT(overrides_of({"new.section.colour"}), IsEmpty());
}

TEST(GitOverrides, AreSortedAndUnique) {
  EXPECT_THAT(overrides_of({"filter.b.clean", "filter.a.clean", "filter.b.clean"}),
              ElementsAre(GitEntry{"filter.a.clean", ""}, GitEntry{"filter.b.clean", ""}));
}

TEST(GitOverrides, WhatNoSettingOutranksIsRefused) {
  EXPECT_TRUE(refused({"includeif.onbranch:main.path", "x"}));
  EXPECT_TRUE(refused({"includeif.hasconfig:remote.*.url:https://x/**.path", "x"}));
  EXPECT_TRUE(refused({"extensions.refstorage", "files:///elsewhere"}));
  EXPECT_FALSE(refused({"extensions.refstorage", "reftable"}));
  std::vector<GitEntry> many;
  for (std::size_t i = 0; i <= kMostGitOverrides; ++i) many.push_back({"filter." + std::to_string(i) + ".clean", ""});
  EXPECT_FALSE(git_overrides(many));
  many.pop_back();
  EXPECT_TRUE(git_overrides(many)) << "one fewer is the most";
}

TEST(GitOverrides, AKeyWithAnEqualsSignGoesThroughAVariable) {
  const GitArguments arguments = as_arguments(std::vector<GitEntry>{{"filter.a=b.clean", ""}, {"filter.c.clean", ""}});
  EXPECT_THAT(arguments.argv,
              ElementsAre("--config-env=filter.a=b.clean=SALLYPORT_GIT_VALUE_0", "-c", "filter.c.clean="));
  EXPECT_THAT(arguments.env, ElementsAre(EnvVar{"SALLYPORT_GIT_VALUE_0", ""}));
}

TEST(GitKeys, EveryRuleIsWrittenAsGitPrintsKeysAndSaysWhy) {
  for (const GitKeyRule& rule : git_key_rules()) {
    EXPECT_EQ(rule.pattern.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ "), std::string_view::npos) << rule.pattern;
    EXPECT_NE(rule.pattern.find('.'), std::string_view::npos) << rule.pattern;
    EXPECT_FALSE(rule.why.empty()) << rule.pattern;
  }
}

TEST(GitQuestion, IsAskedBeforeWhateverReadsARepo) {
  const ToolEntry git = *Allowlist::builtin().find("git");
  const auto question = [&](std::vector<std::string> argv) { return git_question(git, argv); };
  const std::optional<GitQuestion> status = question({"git", "-C", "sub", "--git-dir=g", "status"});
  ASSERT_TRUE(status);
  EXPECT_THAT(status->argv, ElementsAre("git", "-C", "sub", "--git-dir=g", "config", "--list", "-z"));
  EXPECT_EQ(status->directory, "sub");
  EXPECT_TRUE(status->names_git_dir);
  EXPECT_TRUE(status->enters_submodules);
  EXPECT_FALSE(status->changes_index);
  EXPECT_TRUE(question({"git", "checkout", "other"})->changes_index);
  EXPECT_FALSE(question({"git", "log"})->enters_submodules);
  EXPECT_FALSE(question({"git", "--version"}));
  EXPECT_FALSE(question({"git", "config", "--get", "filter.x.clean"})) << "a caller who asks sees what the file says";
  EXPECT_TRUE(git_question(*Allowlist::builtin().find("gitleaks"), std::vector<std::string>{"gitleaks"}));
  EXPECT_FALSE(git_question(*Allowlist::builtin().find("rg"), std::vector<std::string>{"rg", "x"}));
}

TEST(GitConfigurationLearnt, ReachesGitAndToolsThatStartIt) {
  const GitConfiguration learnt{.overrides = {{"filter.a=b.clean", ""}, {"filter.x.clean", ""}}, .work_tree = "/r"};
  const std::vector<std::string> argv = {"git", "status"};
  const Result<HardenedCommand> git = harden(*Allowlist::builtin().find("git"), argv, learnt);
  ASSERT_TRUE(git);
  EXPECT_THAT(git->argv, Contains("filter.x.clean="));
  EXPECT_EQ(git->argv.back(), "status") << "in front of the command";
  EXPECT_THAT(git->env, Contains(EnvVar{"GIT_WORK_TREE", "/r"}));
  const std::vector<std::string> scan = {"semgrep", "scan"};
  const Result<HardenedCommand> semgrep = harden(*Allowlist::builtin().find("semgrep"), scan, learnt);
  const Result<HardenedCommand> before = harden(*Allowlist::builtin().find("semgrep"), scan);
  ASSERT_TRUE(semgrep && before);
  EXPECT_THAT(semgrep->env, Contains(testing::Field(&EnvVar::value, "filter.a=b.clean")));
  EXPECT_EQ(semgrep->env.size(), before->env.size() + 5);
  const std::vector<std::string> jq = {"jq", "."};
  EXPECT_THAT(harden(*Allowlist::builtin().find("jq"), jq, learnt)->env, IsEmpty());
}

TEST(GitFacts, NameWhatTheTablesHold) {
  std::vector<std::string> what;
  for (const HardeningFact& fact : git_facts()) what.emplace_back(fact.what);
  EXPECT_THAT(what, Contains("filter.*"));
  EXPECT_THAT(what, Contains("-c core.fsmonitor=false"));
  EXPECT_THAT(what, Contains("apply --unsafe-paths"));
  EXPECT_THAT(what, Not(Contains("")));
}

}  // namespace
}  // namespace sallyport::hardening
