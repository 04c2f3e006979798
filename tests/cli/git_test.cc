// A repo that a jailed run may write, and git afterwards (ADR 0021, C41): what git would execute is kept out, honest use of
// git goes on. Over both jails, as root and as a plain user.
#include <unistd.h>

#include <tuple>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

class CliGit : public CliTest, public testing::WithParamInterface<std::tuple<std::string, bool>> {
 protected:
  CliGit() : user_(std::get<1>(GetParam()) ? as_plain_user() : std::nullopt), mine_(user_), repo_(mine_ / "repo") {
    environment_ = {{"PATH", "/usr/bin:/bin"}, {"HOME", mine_.path().string()}, {"LANG", "C.UTF-8"}};
    write_file(policy_, policy_admitting({"sh"}));
    fs::permissions(dir_.path(), fs::perms(0755));
    fs::create_directory(repo_);
    give_to(repo_, user_);
    bare_git({"init", "--quiet", "--initial-branch=main"});
    bare_git({"config", "user.name", "n"});
    bare_git({"config", "user.email", "e@example.test"});
    bare_sh("echo a > a && git add a && git commit --quiet -m a");
  }

  void bare_git(Words args) const {
    args.insert(args.begin(), "/usr/bin/git");
    const ProgramResult result = run_program(args, {.cwd = repo_, .environment = environment_, .user = user_});
    ASSERT_EQ(result.exit_code, 0) << result.stderr_bytes;
  }
  std::string bare_sh(const std::string& script) const {
    const ProgramResult result =
        run_program({"/bin/sh", "-ec", script}, {.cwd = repo_, .environment = environment_, .user = user_});
    EXPECT_EQ(result.exit_code, 0) << script << "\n" << result.stderr_bytes;
    return result.stdout_bytes;
  }
  [[nodiscard]] ProgramResult run(Words options, const Words& tool) const {
    options.insert(options.begin(), {"run", "--jail", std::get<0>(GetParam()), "--repo", repo_.string()});
    options.emplace_back("--");
    options.insert(options.end(), tool.begin(), tool.end());
    return sallyport(options, {.cwd = repo_, .user = user_});
  }
  [[nodiscard]] ProgramResult git(const Words& args) const {
    Words tool{"git"};
    tool.insert(tool.end(), args.begin(), args.end());
    return run({"--writable-repo"}, tool);
  }
  nlohmann::json record_of_sh(const std::string& script, Words options = {}) const {
    options.insert(options.end(), {"--json", "--writable-repo", "--policy", policy_.string()});
    return record_of(run(options, {"sh", "-c", script}));
  }
  static bool promises_git(const nlohmann::json& record) {
    return record["receipt"]["guarantees"].dump().find("fs.git_protected") != std::string::npos;
  }

  std::optional<PlainUser> user_;
  TempDir mine_;
  fs::path repo_;
};

TEST_P(CliGit, HonestUseGoesOn_C41) {
  bare_sh(
      "git branch old && git clone --quiet --bare . ../origin && git remote add origin ../origin &&"
      "git fetch --quiet origin && git update-ref refs/remotes/origin/far HEAD");
  for (const Words& args : std::vector<Words>{{"add", "b"},
                                              {"commit", "-q", "-m", "b"},
                                              {"checkout", "-q", "-b", "topic"},
                                              {"checkout", "-q", "-b", "tracking", "origin/far"},
                                              {"checkout", "-q", "main"},
                                              {"stash"},
                                              {"stash", "pop"},
                                              {"branch", "more"},
                                              {"add", "a", "b"},
                                              {"commit", "-q", "-m", "c"},
                                              {"checkout", "-q", "old"},
                                              {"merge", "-q", "main"},
                                              {"reset", "-q", "--hard", "HEAD~1"},
                                              {"rebase", "-q", "main"},
                                              {"tag", "t"},
                                              {"worktree", "add", "-q", "wt"},
                                              {"rm", "-q", "b"},
                                              {"status"}}) {
    if (args.front() == "add") bare_sh("echo more >> a; echo more >> b");
    if (args.size() == 1 && args.front() == "stash") bare_sh("echo more >> a");
    const ProgramResult result = git(args);
    EXPECT_EQ(result.exit_code, 0) << testing::PrintToString(args) << result.stderr_bytes;
    EXPECT_EQ(result.stderr_bytes.find("sallyport:"), std::string::npos) << result.stderr_bytes;
  }
  EXPECT_EQ(bare_sh("git -C wt rev-parse --abbrev-ref HEAD"), "wt\n");
  EXPECT_EQ(bare_sh("git log --format=%s main"), "c\nb\na\n");
  bare_sh("git fsck --strict && git -C wt status --short");
}

TEST_P(CliGit, ItsConfigurationCannotBeWrittenUnlessAskedForByName_C41) {
  const std::string before = read_file(repo_ / ".git/config");
  EXPECT_NE(git({"config", "core.fsmonitor", "./x"}).exit_code, 0);
  EXPECT_EQ(read_file(repo_ / ".git/config"), before);
  record_of_sh("echo x > .git/hooks/post-checkout; mv .git away; mv .git/hooks h");
  EXPECT_FALSE(fs::exists(repo_ / ".git/hooks/post-checkout"));
  // Control.
  const nlohmann::json open = record_of_sh("echo x > .git/hooks/post-checkout", {"--writable-git"});
  EXPECT_TRUE(fs::exists(repo_ / ".git/hooks/post-checkout"));
  EXPECT_FALSE(promises_git(open));
}

TEST_P(CliGit, WhatAppearedIsRemovedAndReported_C41) {
  bare_sh("rm -rf .git/hooks");
  const nlohmann::json record = record_of_sh(
      "mkdir -p .git/hooks sub; echo x > .git/hooks/pre-commit; echo x > .git/hooks/pre-push.sample;"
      "echo /tmp > .git/commondir; git init --quiet sub; printf '[core]\\n\\tfsmonitor = x\\n' >> sub/.git/config;"
      "mkdir -p .git/rebase-merge; printf 'pick 1\\nexec evil\\n' > .git/rebase-merge/git-rebase-todo");
  EXPECT_TRUE(promises_git(record)) << record.dump();
  EXPECT_EQ(record["git_findings"].size(), 4U) << record["git_findings"].dump();
  for (const char* gone : {".git/hooks/pre-commit", ".git/commondir", "sub/.git/config"}) {
    EXPECT_FALSE(fs::exists(repo_ / gone)) << gone;
    EXPECT_NE(record["git_findings"].dump().find(gone), std::string::npos) << record["git_findings"].dump();
  }
  EXPECT_TRUE(fs::exists(repo_ / ".git/hooks/pre-push.sample"));
  EXPECT_EQ(read_file(repo_ / ".git/rebase-merge/git-rebase-todo"), "pick 1\n# exec evil\n");
  EXPECT_TRUE(fs::exists(repo_ / "sub/.git/HEAD"));
}

TEST_P(CliGit, ANewRepoThatIsHonestStaysAsItIs) {
  const nlohmann::json record = record_of_sh("git init --quiet sub && git clone --quiet . copy");
  EXPECT_EQ(record["git_findings"].size(), 0U) << record["git_findings"].dump();
  EXPECT_NE(read_file(repo_ / "copy/.git/config").find("[remote \"origin\"]"), std::string::npos);
  bare_sh("git -C copy log -1 && git -C sub status");
}

// Something of the repo's owner that was only moved is not deleted.
TEST_P(CliGit, WhatIsOlderThanTheRunIsSetAside) {
  bare_sh(
      "echo mine > .git/tool && mkdir bare && git init --quiet --bare bare && rm bare/HEAD &&"
      "printf '[core]\\n\\tfsmonitor = x\\n' > bare/config && rm -rf .git/hooks && sleep 0.1");
  record_of_sh("mkdir .git/hooks && mv .git/tool .git/hooks/pre-commit; echo 'ref: refs/heads/main' > bare/HEAD");
  EXPECT_FALSE(fs::exists(repo_ / ".git/hooks/pre-commit"));
  EXPECT_EQ(read_file(repo_ / ".git/hooks/pre-commit.taken-back-by-sallyport"), "mine\n");
  EXPECT_FALSE(fs::exists(repo_ / "bare/config"));
  EXPECT_TRUE(fs::exists(repo_ / "bare/config.taken-back-by-sallyport"));
}

TEST_P(CliGit, NothingIsPromisedThatAHardLinkCanUndo) {
  EXPECT_TRUE(promises_git(record_of_sh("true")));  // control
  bare_sh("ln .git/config second");
  EXPECT_FALSE(promises_git(record_of_sh("true")));
  const ProgramResult refused =
      run({"--writable-repo", "--require", "fs.git_protected", "--policy", policy_.string()}, {"sh", "-c", "echo ran"});
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_EQ(refused.stdout_bytes, "");
}

TEST_P(CliGit, AReadOnlyRepoPromisesItWithoutALook) {
  const ProgramResult result =
      run({"--json", "--require", "fs.git_protected", "--policy", policy_.string()}, {"sh", "-c", "true"});
  EXPECT_TRUE(promises_git(record_of(result))) << result.stdout_bytes;
}

TEST_P(CliGit, APartOfGitsIsNotMadeWritableByItsPathAlone) {
  for (const char* part : {".git/hooks", ".git/config", ".git/info"}) {
    const ProgramResult result =
        run({"--rw", (repo_ / part).string(), "--policy", policy_.string()}, {"sh", "-c", "echo ran"});
    EXPECT_EQ(result.exit_code, 125) << part;
    expect_error_with_hint(result);
  }
  const ProgramResult open =
      run({"--writable-git", "--rw", (repo_ / ".git/hooks").string(), "--policy", policy_.string()},
          {"sh", "-c", "echo x > .git/hooks/pre-commit"});
  EXPECT_EQ(open.exit_code, 0) << open.stderr_bytes;
  EXPECT_TRUE(fs::exists(repo_ / ".git/hooks/pre-commit"));
}

// The script is the hook; its name in the repo, and the directories above it, cannot be replaced either.
TEST_P(CliGit, AScriptThatAHookLinksToIsProtectedToo) {
  bare_sh(
      "mkdir scripts && echo '# mine' > scripts/check && ln -s ../../scripts/check .git/hooks/pre-commit &&"
      "ln -s ../../scripts/later .git/hooks/pre-push");
  const nlohmann::json record = record_of_sh(
      "echo x >> scripts/check; mv scripts away; rm -f scripts/check; echo x > scripts/later; echo y > other");
  EXPECT_EQ(read_file(repo_ / "scripts/check"), "# mine\n");
  EXPECT_FALSE(fs::exists(repo_ / "scripts/later"));
  EXPECT_TRUE(fs::exists(repo_ / "other"));  // control
  EXPECT_TRUE(promises_git(record)) << record.dump();
}

TEST_P(CliGit, AnOptionIsNamedWhenGitCouldNotWriteItsConfiguration) {
  const ProgramResult result = git({"config", "user.name", "x"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.stderr_bytes.find("--writable-git"), std::string::npos) << result.stderr_bytes;
}

INSTANTIATE_TEST_SUITE_P(, CliGit, testing::Combine(testing::Values("native", "bwrap"), testing::Bool()),
                         [](const auto& test) {
                           return std::get<0>(test.param) + (std::get<1>(test.param) ? "_user" : "_root");
                         });

}  // namespace
}  // namespace sallyport::test
