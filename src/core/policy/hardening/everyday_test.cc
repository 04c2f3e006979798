// Everyday commands that the hardening must not break (issue 16), each next to one that must stay refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/policy/hardening.h"

namespace sallyport {
namespace {

using Args = std::vector<std::string>;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using Kind = FileRule::Kind;

ToolEntry entry_named(const std::string& name) {
  if (name == "npx") return {.name = "npx", .decision_record = "T-1", .reason = "t", .hardening = "npx"};
  return *Allowlist::builtin().find(name);
}

Result<HardenedCommand> everyday(const Args& argv) { return harden(entry_named(argv.front()), argv); }

void expect_admitted(const std::vector<Args>& calls) {
  for (const Args& argv : calls) {
    const Result<HardenedCommand> command = everyday(argv);
    EXPECT_TRUE(command) << testing::PrintToString(argv) << (command ? "" : command.error().message);
  }
}

void expect_refused(const std::vector<Args>& calls) {
  for (const Args& argv : calls) EXPECT_FALSE(everyday(argv)) << testing::PrintToString(argv);
}

std::vector<std::string> paths(const Args& argv, Kind kind) {
  std::vector<std::string> found;
  const Result<HardenedCommand> command = everyday(argv);
  if (!command) return {"refused: " + command.error().message};
  for (const FileRule& rule : command->files) {
    if (rule.kind == kind) found.push_back(rule.path);
  }
  return found;
}

TEST(EverydayGit, PlacesAreLeftToTheGateWhichKnowsTheRepo) {
  EXPECT_THAT(paths({"git", "-C", "/r/sub", "-C", "..", "--git-dir=.git", "status"}, Kind::kInsideRepo),
              ElementsAre("/r/sub", "/r/sub/..", "/r/sub/../.git"));
  EXPECT_THAT(paths({"git", "--work-tree", "w", "status"}, Kind::kInsideRepo), ElementsAre("w"));
  EXPECT_THAT(paths({"git", "status"}, Kind::kInsideRepo), IsEmpty());
  expect_refused({{"git", "-C"}, {"git", "-C", "", "status"}, {"git", "--git-dir=", "status"}});
}

TEST(EverydayGit, HarmlessKeysMayBeSet) {
  expect_admitted({{"git", "-c", "user.name=A", "-c", "user.email=a@b.test", "commit", "-m", "x"},
                   {"git", "-c", "core.quotePath=off", "status"},
                   {"git", "-c", "color.ui=always", "-c", "color.diff.meta=red", "diff"},
                   {"git", "-c", "core.pager=cat", "log"},
                   {"git", "-c", "safe.directory=*", "log"},
                   {"git", "-c", "advice.detachedHead=false", "checkout", "x"}});
  expect_refused({{"git", "-c", "core.pager=less", "log"},
                  {"git", "-c", "core.pager", "log"},
                  {"git", "-c", "CORE.fsmonitor=x", "status"},
                  {"git", "-c", "color.interactive=always", "add", "-p"},
                  {"git", "-c", "alias.x=!x", "status"},
                  {"git", "-c", "core.sshCommand=x", "fetch"},
                  {"git", "-c", "diff.external=x", "diff"},
                  {"git", "-c", "blame.ignoreRevsFile=/x", "blame", "f"},
                  {"git", "-c"},
                  {"git", "--config-env=user.name=X", "status"}});
  EXPECT_THAT(paths({"git", "-c", "gpg.ssh.allowedSignersFile=/k", "verify-commit", "HEAD"}, Kind::kOutsideRepo),
              ElementsAre("/k"));
}

TEST(EverydayGit, ACallersKeyStandsBehindTheGatesOwn) {
  const std::vector<std::string> argv = everyday({"git", "-c", "color.ui=always", "log"})->argv;
  const auto ours = std::ranges::find(argv, "color.ui=false");
  const auto theirs = std::ranges::find(argv, "color.ui=always");
  ASSERT_TRUE(ours != argv.end() && theirs != argv.end());
  EXPECT_LT(ours, theirs);
}

TEST(EverydayGit, WordsThatGitTakesForValuesAreNoOptions) {
  expect_admitted({{"git", "log", "-S", "--exec"},
                   {"git", "log", "-G", "--output=x"},
                   {"git", "log", "--grep", "--help", "--author", "--exec"},
                   {"git", "grep", "-e", "--help"},
                   {"git", "grep", "-ine", "--open-files-in-pager"},
                   {"git", "grep", "-n", "--", "--help"},
                   {"git", "log", "--oneline", "--", "--help"},
                   {"git", "log", "--max-count=3", "--", "--exec"},
                   {"git", "diff", "--stat", "--", "--output"},
                   {"git", "commit", "-m", "--help"}});
  expect_refused({{"git", "log", "--exec", "-S"},
                  {"git", "log", "-S", "--", "--output=x"},
                  {"git", "log", "-n", "--", "--output=x"},
                  {"git", "grep", "-e", "--", "--open-files-in-pager=x"},
                  {"git", "grep", "-eA", "--open-files-in-pager=x"},
                  {"git", "grep", "-A", "--", "--open-files-in-pager=x"},
                  {"git", "grep", "-nO", "x"},
                  {"git", "blame", "-S", "--output=x"},
                  {"git", "log", "--unknown", "--", "--output=x"}});
}

TEST(EverydayGit, ReadingSubmodulesIsReadingAndTheirConfigurationIsListed) {
  expect_admitted({{"git", "grep", "--recurse-submodules", "x"}, {"git", "ls-files", "--recurse-submodules"}});
  expect_refused({{"git", "checkout", "--recurse-submodules", "x"}, {"git", "fetch", "--recurse-submodules"}});
  const ToolEntry git = entry_named("git");
  EXPECT_TRUE(git_question(git, Args{"git", "grep", "--recurse-submodules", "x"})->enters_submodules);
  EXPECT_FALSE(git_question(git, Args{"git", "grep", "x"})->enters_submodules);
}

TEST(EverydayGit, StashAndReflogAreAsBare) {
  EXPECT_THAT(everyday({"git", "stash", "show"})->argv, Contains("--stat"));
  EXPECT_THAT(everyday({"git", "stash", "show", "-p"})->argv, Not(Contains("--stat")));
  EXPECT_THAT(everyday({"git", "stash", "list"})->argv, Not(Contains("--stat")));
  EXPECT_THAT(everyday({"git", "reflog", "list"})->argv, Not(Contains("--no-textconv")));
  EXPECT_THAT(everyday({"git", "reflog"})->argv, Contains("--no-textconv"));
  expect_refused({{"git", "reflog", "list", "-p"}});
}

TEST(EverydayGit, VerifiesExportsAndComparesRanges) {
  EXPECT_THAT(everyday({"git", "verify-commit", "HEAD"})->argv, Contains("gpg.program=gpg"));
  EXPECT_THAT(everyday({"git", "log"})->argv, Not(Contains("gpg.program=gpg"))) << "no other command starts it";
  expect_admitted({{"git", "fast-export", "--all"}, {"git", "range-diff", "a..b", "a..c"}});
  expect_refused({{"git", "fast-export", "--export-marks=/x", "--all"},
                  {"git", "fast-export", "--import-marks=/x", "--all"},
                  {"git", "fast-export", "--exp=/x"},
                  {"git", "range-diff", "--ext-diff", "a...b"}});
}

TEST(EverydayRipgrep, PatternsAndFilesAreNoOptions) {
  expect_admitted({{"rg", "-e", "--pre"},
                   {"rg", "-ie", "--search-zip"},
                   {"rg", "--regexp", "-z"},
                   {"rg", "-i", "--", "--pre"},
                   {"rg", "--hidden", "--", "-z"},
                   {"rg", "-A3", "--", "--pre"}});
  expect_refused({{"rg", "-e", "x", "--pre", "y"},
                  {"rg", "-e", "--", "--pre=y"},
                  {"rg", "-A", "--", "--pre=y"},
                  {"rg", "-eA", "--pre=y"},
                  {"rg", "-f", "--pre=y"},
                  {"rg", "--unknown", "--", "--pre=y"},
                  {"rg", "-iz", "x"}});
}

TEST(EverydayNpm, ActsInADirectoryOfTheRepo) {
  for (const Args& argv : {Args{"npm", "--prefix", "sub", "install"}, Args{"npm", "--prefix=sub", "ci"},
                           Args{"npm", "-C", "sub", "ci"}, Args{"npm", "install", "--prefix", "sub"}}) {
    ASSERT_TRUE(everyday(argv)) << everyday(argv).error().message;
    EXPECT_THAT(paths(argv, Kind::kInsideRepo), ElementsAre("sub"));
    EXPECT_THAT(paths(argv, Kind::kOutput), Contains("sub/package-lock.json"));
  }
  EXPECT_THAT(paths({"npm", "ci"}, Kind::kOutput), Contains("package-lock.json"));
  EXPECT_FALSE(everyday({"npm", "--prefix", "sub", "test"})->needs_jail.empty());
  expect_refused({{"npm", "--prefix", "~/x", "ci"},
                  {"npm", "--prefix", "${HOME}", "ci"},
                  {"npm", "--prefix=", "ci"},
                  {"npm", "--prefix", "true", "ci"},
                  {"npm", "-C"},
                  {"npm", "--prefix", "sub", "-g", "ci"},
                  {"npm", "--tag", "test", "exec"}});
}

TEST(EverydayNpm, SaysMoreAndAboutItself) {
  expect_admitted({{"npm", "--loglevel", "silly", "ls"},
                   {"npm", "--loglevel=silent", "ls"},
                   {"npm", "version"},
                   {"npm", "version", "--json"},
                   {"npm", "pkg", "get", "name"},
                   {"npm", "help"},
                   {"npm", "help", "install"}});
  expect_refused({{"npm", "--loglevel", "ls"},
                  {"npm", "version", "patch"},
                  {"npm", "pkg", "set", "name=x"},
                  {"npm", "pkg"},
                  {"npm", "config", "set", "x", "y"}});
}

TEST(EverydayNpm, RunsWhatIsInstalledInTheRepo) {
  for (const Args& argv : {Args{"npx", "tsc", "--noEmit"}, Args{"npx", "--no-install", "@scope/tool", "-x"},
                           Args{"npm", "exec", "--", "tsc", "--noEmit"}, Args{"npm", "exec", "tsc"}}) {
    ASSERT_TRUE(everyday(argv)) << everyday(argv).error().message;
    EXPECT_THAT(everyday(argv)->argv, IsSupersetOf({"--no", "--ignore-scripts"}));
    EXPECT_FALSE(everyday(argv)->needs_jail.empty());
    EXPECT_THAT(everyday(argv)->env, Contains(EnvVar{"npm_config_ignore_scripts", "true"}));
  }
  EXPECT_THAT(everyday({"npx", "tsc", "--noEmit"})->argv,
              ElementsAre("npx", "--no", "--ignore-scripts", "tsc", "--noEmit"));
  expect_refused({{"npx", "-y", "x"},
                  {"npx", "--yes", "x"},
                  {"npx", "-p", "x", "y"},
                  {"npx", "--package=x", "y"},
                  {"npx", "-c", "x"},
                  {"npx", "x@1.2.3"},
                  {"npx", "user/repo"},
                  {"npx", "./x"},
                  {"npx", "https://h.example/x.tgz"},
                  {"npx", "github:u/r"},
                  {"npx"},
                  {"npm", "exec", "tsc", "--package=evil"},
                  {"npm", "x", "--call", "y"}});
}

TEST(EverydayDocker, MountsTheWorkingDirectoryByItsPath) {
  EXPECT_THAT(paths({"docker", "run", "--rm=true", "-it", "-v", "/r/src:/src:ro", "alpine"}, Kind::kWorkingDirectory),
              ElementsAre("/r/src"));
  EXPECT_THAT(paths({"docker", "run", "-v.:/src:ro", "alpine"}, Kind::kWorkingDirectory), IsEmpty());
  expect_admitted({{"docker", "run", "--rm=true", "-itv", ".:/src:ro", "alpine", "sh", "-c", "x"}});
  expect_refused({{"docker", "run", "-v", "/r/src:/src", "alpine"},
                  {"docker", "run", "-v", "/r/src:/src:rw", "alpine"},
                  {"docker", "run", "-v", "name:/src:ro", "alpine"},
                  {"docker", "run", "-v", "../x:/src:ro", "alpine"}});
}

TEST(AdmittedWords, AreTheTablesThatAreEnforced) {
  const hardening::AdmittedWords npm = admitted_words(entry_named("npm"));
  for (const std::string& command : npm.commands) {
    const bool needs_words = command == "exec" || command == "pkg" || command == "config";
    if (needs_words) continue;
    EXPECT_TRUE(everyday({"npm", command})) << command;
  }
  EXPECT_THAT(npm.options, IsSupersetOf({"--save-dev", "--prefix", "--omit"}));
  EXPECT_THAT(npm.options, Not(Contains("--script-shell")));
  EXPECT_THAT(admitted_words(entry_named("git")).commands, IsSupersetOf({"log", "range-diff"}));
  EXPECT_THAT(admitted_words(entry_named("docker")).options, Contains("run --volume"));
  EXPECT_THAT(admitted_words(entry_named("rg")).commands, IsEmpty());
}

}  // namespace
}  // namespace sallyport
