#include "core/policy/hardening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>

#include "core/policy/hardening/git_config.h"

namespace sallyport {
namespace {

using Args = std::vector<std::string>;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Result<HardenedCommand> hardened(const Args& argv) { return harden(*Allowlist::builtin().find(argv.front()), argv); }

bool refused(const Args& argv) {
  const Result<HardenedCommand> command = hardened(argv);
  if (command) return false;
  const auto* request = command.error().as<InvalidRequest>();
  return request != nullptr && request->field == "argv" && !command.error().hint.empty();
}

Args git_prefix() {
  Args prefix = {"git", "--no-pager"};
  for (const hardening::GitSetting& setting : hardening::git_settings()) {
    prefix.emplace_back("-c");
    prefix.push_back(std::string(setting.key) + "=" + std::string(setting.value));
  }
  return prefix;
}

// What follows the fixed beginning of a hardened git command.
Args git_rest(const Args& argv) {
  const Result<HardenedCommand> command = hardened(argv);
  if (!command) return {"REFUSED", command.error().message};
  const Args prefix = git_prefix();
  if (!std::ranges::equal(prefix, std::span(command->argv).first(std::min(prefix.size(), command->argv.size()))))
    return {};
  return {command->argv.begin() + static_cast<std::ptrdiff_t>(prefix.size()), command->argv.end()};
}

TEST(HardenGit, OutranksTheReposConfigurationRightAfterTheName_C28) {
  const Args prefix = git_prefix();
  for (const char* setting :
       {"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.editor=:", "core.sshCommand=false",
        "core.askPass=", "credential.helper=", "protocol.ext.allow=never", "gpg.program=false",
        "log.showSignature=false", "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false",
        "safe.bareRepository=explicit", "safe.directory=*"}) {
    EXPECT_THAT(prefix, Contains(setting));
  }
  EXPECT_THAT(git_rest({"git", "rev-parse", "HEAD"}), ElementsAre("rev-parse", "HEAD"));
  const std::vector<EnvVar> env = hardened({"git", "status"})->env;
  EXPECT_THAT(env, Contains(EnvVar{"GIT_CONFIG_NOSYSTEM", "1"}));
  EXPECT_THAT(env, Contains(EnvVar{"GIT_CONFIG_GLOBAL", "/dev/null"}));
  EXPECT_THAT(env, Contains(EnvVar{"GIT_TERMINAL_PROMPT", "0"}));
  EXPECT_THAT(env, Contains(EnvVar{"GIT_ALLOW_PROTOCOL", "https:http"}));
}

TEST(HardenGit, SwitchesDiffDriversOffWhereTheyWouldRun_C28) {
  EXPECT_THAT(git_rest({"git", "diff", "HEAD"}), ElementsAre("diff", "--no-ext-diff", "--no-textconv", "HEAD"));
  EXPECT_THAT(git_rest({"git", "log", "-p"}), ElementsAre("log", "--no-ext-diff", "--no-textconv", "-p"));
  EXPECT_THAT(git_rest({"git", "log"}), ElementsAre("log", "--no-ext-diff", "--no-textconv"));
  EXPECT_THAT(git_rest({"git", "blame", "f"}), ElementsAre("blame", "--no-textconv", "f"));
  EXPECT_THAT(git_rest({"git", "stash", "show"}),
              ElementsAre("stash", "show", "--no-ext-diff", "--no-textconv", "--stat"));
  EXPECT_THAT(git_rest({"git", "stash"}), ElementsAre("stash"));
  EXPECT_THAT(git_rest({"git", "reflog", "show", "-p"}),
              ElementsAre("reflog", "show", "--no-ext-diff", "--no-textconv", "-p"));
  EXPECT_THAT(git_rest({"git", "-C", "sub", "show", "x"}),
              ElementsAre("-C", "sub", "show", "--no-ext-diff", "--no-textconv", "x"));
}

TEST(HardenGit, LetsOrdinaryCommandsThrough) {
  for (const Args& argv : std::vector<Args>{{"git"},
                                            {"git", "--version"},
                                            {"git", "status", "--porcelain"},
                                            {"git", "status", "-uno"},
                                            {"git", "log", "--oneline", "--text", "-n", "3"},
                                            {"git", "log", "--output-indicator-new=>"},
                                            {"git", "rev-list", "--filter=blob:none", "HEAD"},
                                            {"git", "grep", "-eOUT", "x"},
                                            {"git", "commit", "-m", "m"},
                                            {"git", "clone", "--depth=1", "https://h.example/r"},
                                            {"git", "--git-dir=.", "log"},
                                            {"git", "archive", "--format=tar", "HEAD"},
                                            {"git", "config", "--get", "user.name"},
                                            {"git", "submodule", "status"},
                                            {"git", "bundle", "create", "-", "HEAD"},
                                            {"git", "bundle", "verify", "x"},
                                            {"git", "merge-file", "-p", "a", "b", "c"},
                                            {"git", "worktree", "add", "sub/x", "HEAD"},
                                            {"git", "worktree", "list"},
                                            {"git", "apply", "--index", "p"},
                                            {"git", "rebase", "--abort"},
                                            {"git", "cherry-pick", "-s", "b"},
                                            {"git", "merge", "-s", "ours", "b"},
                                            {"git", "merge", "--strategy-option=ours", "b"},
                                            {"git", "init", "sub"},
                                            {"git", "grep", "--", "--help"},
                                            {"git", "log", "HEAD", "--", "--output=x"}}) {
    EXPECT_TRUE(hardened(argv).has_value()) << testing::PrintToString(argv) << hardened(argv).error().message;
  }
}

TEST(HardenGit, RefusesWhatWouldUndoItOrStartAProgram_C28) {
  for (const Args& argv : std::vector<Args>{{"git", "-c", "core.fsmonitor=x", "status"},
                                            {"git", "--config-env=a=B", "status"},
                                            {"git", "--exec-path=/tmp", "status"},
                                            {"git", "-p", "log"},
                                            {"git", "--paginate", "log"},
                                            {"git", "-C"},
                                            {"git", "foo"},
                                            {"git", "fetch", "--upload-pack=x", "origin"},
                                            {"git", "fetch", "--upload-pack", "x", "origin"},
                                            {"git", "ls-remote", "--upload-pa=x", "."},
                                            {"git", "ls-remote", "--exec=x", "."},
                                            {"git", "push", "--receive-pack=x"},
                                            {"git", "clone", "-u", "x", "y"},
                                            {"git", "clone", "-qux", "y"},
                                            {"git", "clone", "-c", "core.fsmonitor=x", "y"},
                                            {"git", "clone", "--conf=a=b", "y"},
                                            {"git", "clone", "--template=x", "y"},
                                            {"git", "diff", "--output=x"},
                                            {"git", "diff", "--outp", "x"},
                                            {"git", "diff", "--ext-diff"},
                                            {"git", "log", "--textconv"},
                                            {"git", "log", "--textc"},
                                            {"git", "log", "--help"},
                                            {"git", "cat-file", "--filters", "HEAD:f"},
                                            {"git", "status", "-v"},
                                            {"git", "status", "--verb"},
                                            {"git", "grep", "--open-files-in-pager=x", "y"},
                                            {"git", "grep", "-Ox", "y"},
                                            {"git", "grep", "-e", "--", "-Ox"},
                                            {"git", "rebase", "-x", "cmd"},
                                            {"git", "rebase", "--exec", "cmd"},
                                            {"git", "commit", "--trailer", "x: y"},
                                            {"git", "archive", "--format=evil", "HEAD"},
                                            {"git", "archive", "--format", "tgz", "HEAD"},
                                            {"git", "archive", "-o", "x.evil", "HEAD"},
                                            {"git", "config", "--global", "a.b", "c"},
                                            {"git", "config", "-f", "/x", "a.b", "c"},
                                            {"git", "submodule", "foreach", "x"},
                                            {"git", "submodule", "update"},
                                            {"git", "pull", "--recurse-submodules"},
                                            {"git", "diff", "--submodule=diff"},
                                            {"git", "cat-file", "--filter", "HEAD:f"},
                                            {"git", "cat-file", "--text", "HEAD:f"},
                                            {"git", "clone", "--recursive", "https://h.example/r"},
                                            {"git", "clone", "--recurs", "https://h.example/r"},
                                            {"git", "merge", "-s", "evil", "b"},
                                            {"git", "merge", "-nsevil", "b"},
                                            {"git", "pull", "--strategy=evil"},
                                            {"git", "cherry-pick", "--strategy", "evil", "b"},
                                            {"git", "bisect", "run", "x"},
                                            {"git", "filter-branch"},
                                            {"git", "difftool"},
                                            {"git", "help", "log"},
                                            {"git", "--no-pager"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(HardenGit, RefusesPlacesOutsideTheRepoAndCommandsLeftByAnother_C28) {
  for (const Args& argv : std::vector<Args>{{"git", "clone", "https://h.example/r", "/x"},
                                            {"git", "clone", "https://h.example/r", "../x"},
                                            {"git", "init", "/x"},
                                            {"git", "bundle", "create", "/x", "HEAD"},
                                            {"git", "bundle", "create", "x", "-"},
                                            {"git", "bundle", "create", "--version=2", "x", "HEAD"},
                                            {"git", "merge-file", "/x", "b", "c"},
                                            {"git", "merge-file", "-L", "p", "a", "b", "c"},
                                            {"git", "read-tree", "--index-output=/x", "HEAD"},
                                            {"git", "read-tree", "--index-o", "x", "HEAD"},
                                            {"git", "worktree", "add", "/x"},
                                            {"git", "worktree", "add", "-b", "new", "../x"},
                                            {"git", "worktree", "move", "a", "/x"},
                                            {"git", "worktree", "repair"},
                                            {"git", "apply", "--unsafe-paths", "p"},
                                            {"git", "apply", "--uns", "p"},
                                            {"git", "apply", "--build-fake-ancestor=x", "p"},
                                            {"git", "commit-graph", "write", "--object-dir=/x"},
                                            {"git", "rebase", "--continue"},
                                            {"git", "rebase", "--cont"},
                                            {"git", "rebase", "--skip"},
                                            {"git", "rebase", "--edit-todo"},
                                            {"git", "rebase", "--show-current-patch"},
                                            {"git", "cherry-pick", "--continue"},
                                            {"git", "revert", "--skip"},
                                            {"git", "format-patch", "--suffix=/../x", "HEAD"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(HardenRipgrep, ReadsNoConfigurationAndStartsNothing_C28) {
  EXPECT_THAT(hardened({"rg", "-n", "x"})->argv, ElementsAre("rg", "--no-config", "-n", "x"));
  EXPECT_TRUE(hardened({"rg", "--pretty", "--pre-glob=*.z", "-ezz", "x"}).has_value());
  EXPECT_TRUE(hardened({"rg", "x", "--", "--pre=sh"}).has_value());
  for (const Args& argv : std::vector<Args>{{"rg", "--pre", "sh", "x"},
                                            {"rg", "--pre=sh", "x"},
                                            {"rg", "x", "--hostname-bin=sh"},
                                            {"rg", "-z", "x"},
                                            {"rg", "-iz", "x"},
                                            {"rg", "--search-zip", "x"},
                                            {"rg", "-e", "--", "--pre=sh"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(Harden, LeavesToolsWithoutHardeningAlone) {
  EXPECT_THAT(hardened({"jq", "-n", "1"})->argv, ElementsAre("jq", "-n", "1"));
  EXPECT_TRUE(hardened({"node", "-e", "1"})->env.empty());
}

RC_GTEST_PROP(Harden, IsDeterministicBeginsWithTheToolAndKeepsTheCallersArgumentsInOrder, ()) {
  const auto tool = *rc::gen::elementOf(Args{"git", "npm", "rg", "semgrep", "gitleaks", "docker", "jq"});
  const auto word =
      rc::gen::elementOf(Args{"run", "log", "status", "install", "test", "scan", "--json", "-v", "x", "--", "build",
                              "stash", "show", "HEAD", "-n", "--rm", "--network=none", "", "ps"});
  Args argv = *rc::gen::container<Args>(word);
  argv.insert(argv.begin(), tool);
  const Result<HardenedCommand> command = hardened(argv);
  const Result<HardenedCommand> again = hardened(argv);
  RC_ASSERT(command.has_value() == again.has_value());
  RC_CLASSIFY(command.has_value(), "accepted");
  if (!command) return;
  RC_ASSERT(command->argv == again->argv);
  RC_ASSERT(command->argv.front() == tool);
  auto at = command->argv.begin();
  for (const std::string& argument : argv) {
    at = std::find(at, command->argv.end(), argument);
    RC_ASSERT(at != command->argv.end());
    ++at;
  }
}

}  // namespace
}  // namespace sallyport
