// Where agents and monorepos live: linked worktrees, submodules, clones that share objects. git works in each of them
// in a jail, and a repo that points at another user's git directory sees nothing of it (ADR 0049).
#include <tuple>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

class LinkedRepo : public CliTest, public testing::WithParamInterface<std::tuple<std::string, bool>> {
 protected:
  LinkedRepo() : user_(std::get<1>(GetParam()) ? as_plain_user() : std::nullopt), mine_(user_) {
    environment_ = {{"PATH", "/usr/bin:/bin"}, {"HOME", (mine_ / "home").string()}, {"LANG", "C.UTF-8"}};
    write_file(policy_, policy_admitting({"sh"}));
    fs::permissions(dir_.path(), fs::perms(0755));
    bare_sh(
        "mkdir home main; cd main; git init --quiet --initial-branch=main; git config user.name n;"
        "git config user.email e@example.test; echo what > a; git add a; git commit --quiet -m secret-subject");
  }

  void bare_sh(const std::string& script) const {
    const ProgramResult result =
        run_program({"/bin/sh", "-ec", script}, {.cwd = mine_.path(), .environment = environment_, .user = user_});
    ASSERT_EQ(result.exit_code, 0) << script << "\n" << result.stderr_bytes;
  }
  [[nodiscard]] ProgramResult run(const fs::path& repo, const Words& tool, const Words& options = {}) const {
    Words words = {"run", "--jail", std::get<0>(GetParam()), "--repo", repo.string()};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), tool.begin(), tool.end());
    return sallyport(words, {.cwd = repo, .user = user_});
  }
  void expect_git_works(const fs::path& repo, const Words& options = {}) const {
    const ProgramResult log = run(repo, {"git", "log", "--format=%s"}, options);
    EXPECT_EQ(log.exit_code, 0) << log.stderr_bytes;
    EXPECT_EQ(log.stdout_bytes, "secret-subject\n") << log.stderr_bytes;
    const ProgramResult status = run(repo, {"git", "status", "--short"}, options);
    EXPECT_EQ(status.exit_code, 0) << status.stderr_bytes;
  }

  std::optional<PlainUser> user_;
  TempDir mine_;
};

TEST_P(LinkedRepo, AWorktreeWorksAndItsGitDirectoryIsInThePlan) {
  bare_sh("git -C main worktree add -q ../wt");
  expect_git_works(mine_ / "wt");
  const ProgramResult explained = sallyport({"explain", "--json", "--repo", mine_ / "wt", "--", "git", "log"},
                                            {.cwd = mine_ / "wt", .user = user_});
  const nlohmann::json plan = nlohmann::json::parse(explained.stdout_bytes, nullptr, false);
  ASSERT_TRUE(plan.is_object()) << explained.stderr_bytes;
  EXPECT_EQ(plan["plan"]["extra_read_only"], nlohmann::json::array({(mine_ / "main/.git").string()})) << plan;
  // Read-only, also where the worktree itself may be written.
  const ProgramResult written = run(mine_ / "wt", {"sh", "-c", "echo x > ../main/.git/planted; echo y > mine"},
                                    {"--writable-repo", "--policy", policy_.string()});
  EXPECT_FALSE(fs::exists(mine_ / "main/.git/planted")) << written.stderr_bytes;
  EXPECT_TRUE(fs::exists(mine_ / "wt/mine")) << "the control: " << written.stderr_bytes;
  // And the rest of the main repo stays hidden.
  EXPECT_NE(run(mine_ / "wt", {"sh", "-c", "cat ../main/a"}, {"--policy", policy_.string()}).exit_code, 0);
}

TEST_P(LinkedRepo, ASubmoduleWorks) {
  bare_sh(
      "git init --quiet super; cd super; git -c protocol.file.allow=always submodule --quiet add ../main sub;"
      "git -c user.name=n -c user.email=e@example.test commit --quiet -m super");
  expect_git_works(mine_ / "super/sub");
}

TEST_P(LinkedRepo, ASharedCloneNamesTheOptionThatShowsItsObjects) {
  bare_sh("git clone --quiet --shared main clone");
  const ProgramResult hidden = run(mine_ / "clone", {"git", "log", "--format=%s"});
  EXPECT_EQ(hidden.stdout_bytes.find("secret-subject"), std::string::npos);
  const std::string objects = (mine_ / "main/.git/objects").string();
  EXPECT_NE(hidden.stderr_bytes.find("hint: if it is yours to show: --ro " + objects + "\n"), std::string::npos)
      << hidden.stderr_bytes;
  expect_git_works(mine_ / "clone", {"--ro", objects});
}

// An untrusted repo, and a private one that it tries to see.
TEST_P(LinkedRepo, AHostileRepoCannotPointAtAnothersGitDirectory) {
  bare_sh(
      "git -C main worktree add -q ../wt; mkdir evil1 evil2 evil3; git init --quiet evil3;"
      "echo \"gitdir: $PWD/main/.git\" > evil1/.git; echo \"gitdir: $PWD/main/.git/worktrees/wt\" > evil2/.git;"
      "echo \"$PWD/main/.git/objects\" > evil3/.git/objects/info/alternates");
  for (const char* const name : {"evil1", "evil2", "evil3"}) {
    const fs::path repo = mine_ / name;
    const Words look = {"sh", "-c", "find ../main; cat ../main/.git/config ../main/.git/HEAD"};
    const ProgramResult seen = run(repo, look, {"--policy", policy_.string()});
    EXPECT_EQ(seen.stdout_bytes, "") << name;
    const ProgramResult log = run(repo, {"git", "log", "--all", "--format=%s"});
    EXPECT_EQ(log.stdout_bytes.find("secret-subject"), std::string::npos) << name;
  }
  // The control: with --ro, a run can read the other repo.
  const ProgramResult shown = run(mine_ / "evil1", {"sh", "-c", "cat ../main/.git/HEAD"},
                                  {"--policy", policy_.string(), "--ro", (mine_ / "main/.git").string()});
  EXPECT_EQ(shown.stdout_bytes, "ref: refs/heads/main\n") << shown.stderr_bytes;
}

INSTANTIATE_TEST_SUITE_P(, LinkedRepo, testing::Combine(testing::Values("native", "bwrap"), testing::Bool()),
                         [](const auto& test) {
                           return std::get<0>(test.param) + (std::get<1>(test.param) ? "_user" : "_root");
                         });

}  // namespace
}  // namespace sallyport::test
