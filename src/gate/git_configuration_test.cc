#include "gate/git_configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "sallyport/allowlist.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// A repo on disk, and a git that answers from a table: tests what the gate makes of the answers.
class LearnTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "learn-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    repo_ = fs::canonical(pattern);
    fs::create_directories(repo_ / ".git");
    spec_ = {.argv = {"git", "status"}, .repo = repo_, .cwd = repo_, .limits = {.wall = std::chrono::seconds(1)}};
  }
  void TearDown() override { fs::remove_all(repo_); }

  void write_index(std::string_view bytes) const { std::ofstream(repo_ / ".git/index", std::ios::binary) << bytes; }

  Result<GitLearnt> learn() {
    const std::optional<GitQuestion> question = git_question(*Allowlist::builtin().find("git"), spec_.argv);
    EXPECT_TRUE(question);
    return learn_git_configuration(*question, spec_, [this](const JailedSubprocessSpec& one) {
      asked_.push_back(one);
      const bool index = std::ranges::find(one.argv, "ls-files") != one.argv.end();
      JailedSubprocessResult result;
      result.outcome = index ? Outcome(Completed{ExitCode{0}}) : outcome_;
      result.stdout_stream = index ? index_ : one.cwd == repo_ ? own_ : of_submodule_;
      result.stderr_stream.bytes = "version 2.39.5\nstart git\n"s + complaint_;
      return Result<JailedSubprocessResult>(std::move(result));
    });
  }

  fs::path repo_;
  JailedSubprocessSpec spec_;
  Outcome outcome_ = Completed{ExitCode{0}};
  CapturedStream own_{.bytes = "filter.x.clean\nevil\0"s};
  CapturedStream of_submodule_{.bytes = "filter.y.clean\nevil\0"s};
  CapturedStream index_{};
  std::string complaint_;
  std::vector<JailedSubprocessSpec> asked_;
};

TEST_F(LearnTest, DangerousKeysBecomeOverridesAndTheVersionIsKnown) {
  const Result<GitLearnt> learnt = learn();
  ASSERT_TRUE(learnt);
  EXPECT_THAT(learnt->configuration.overrides, ElementsAre(GitEntry{"filter.x.clean", ""}));
  EXPECT_EQ(learnt->version, "2.39.5");
  EXPECT_EQ(asked_.size(), 1U) << "without an index there are no submodules";
}

TEST_F(LearnTest, AConfigurationThatCannotBeListedIsRefusedWithGitsReason) {
  outcome_ = Completed{ExitCode{128}};
  complaint_ = "fatal: bad config line 3 in file .git/config\n";
  const Result<GitLearnt> learnt = learn();
  ASSERT_FALSE(learnt);
  EXPECT_NE(learnt.error().message.find("bad config line 3"), std::string::npos);
}

TEST_F(LearnTest, AListThatWasCutOffIsRefused) {
  own_.truncated = true;
  EXPECT_FALSE(learn());
}

TEST_F(LearnTest, AQuestionThatRunsOutOfTimeEndsTheCallAndShowsNothing) {
  outcome_ = TimedOut{};
  const Result<GitLearnt> learnt = learn();
  ASSERT_TRUE(learnt);
  ASSERT_TRUE(learnt->ended);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(learnt->ended->outcome));
  EXPECT_THAT(learnt->ended->stdout_stream.bytes, IsEmpty());
}

TEST_F(LearnTest, AMovedWorkTreeIsNamed) {
  own_.bytes = "core.worktree\n/elsewhere\0"s;
  fs::create_directories(repo_ / "deep/down");
  spec_.cwd = repo_ / "deep/down";
  of_submodule_ = own_;
  const Result<GitLearnt> learnt = learn();
  ASSERT_TRUE(learnt);
  EXPECT_EQ(learnt->configuration.work_tree, repo_.native());
  spec_.argv = {"git", "--git-dir=x", "status"};
  EXPECT_FALSE(learn()) << "the work tree would be anywhere";
}

TEST_F(LearnTest, SubmodulesAreListedWhenTheIndexMayHoldOne) {
  fs::create_directories(repo_ / "sub/.git");
  fs::create_directories(repo_ / "empty");
  fs::create_directory_symlink(repo_ / "sub", repo_ / "link");
  index_.bytes = "100644 1 0\tf\000160000 1 0\tsub\000160000 1 0\tempty\000160000 1 0\tlink\0"s;
  write_index("DIRC\0\0\x81\xa4"s);
  ASSERT_TRUE(learn());
  EXPECT_EQ(asked_.size(), 1U) << "the index has no entry with that mode";
  asked_.clear();
  write_index("DIRC\0\0\xe0\0"s);
  const Result<GitLearnt> learnt = learn();
  ASSERT_TRUE(learnt);
  EXPECT_THAT(learnt->configuration.overrides,
              ElementsAre(GitEntry{"filter.x.clean", ""}, GitEntry{"filter.y.clean", ""}));
  ASSERT_EQ(asked_.size(), 3U) << "configuration, index, one submodule: the others are not checked out, or a symlink";
  EXPECT_EQ(asked_.back().cwd, repo_ / "sub");
}

TEST_F(LearnTest, ARepoInTheWorkTreeCountsWhenTheIndexMayChange) {
  fs::create_directories(repo_ / "sub/.git");
  index_.bytes = "untracked\0sub/\0"s;
  spec_.argv = {"git", "checkout", "other"};
  const Result<GitLearnt> learnt = learn();
  ASSERT_TRUE(learnt);
  EXPECT_THAT(learnt->configuration.overrides,
              ElementsAre(GitEntry{"filter.x.clean", ""}, GitEntry{"filter.y.clean", ""}));
}

TEST_F(LearnTest, ADirectoryThatLeadsOutOfTheRepoIsRefused) {
  fs::create_directory_symlink("/usr", repo_ / "out");
  spec_.argv = {"git", "-C", "out", "status"};
  EXPECT_FALSE(learn());
}

TEST_F(LearnTest, TheQuestionTakesNoInputAndReachesNoHost) {
  spec_.stdin_source = StdinBytes{"x"};
  spec_.allowed_hosts = {*parse_host_rule("h.example")};
  spec_.required = {Guarantee::kFsWriteConfined, Guarantee::kNetEgressAllowlist};
  ASSERT_TRUE(learn());
  EXPECT_EQ(asked_.front().required, std::vector{Guarantee::kFsWriteConfined}) << "the rest is the call's own";
  EXPECT_TRUE(std::holds_alternative<NullStdin>(asked_.front().stdin_source));
  EXPECT_THAT(asked_.front().allowed_hosts, IsEmpty());
}

TEST(NewestKnownGit, IsComparedByNumbers) {
  EXPECT_FALSE(is_newer_than_known_git("2.39.5"));
  EXPECT_FALSE(is_newer_than_known_git("2.9.1"));
  EXPECT_FALSE(is_newer_than_known_git("2.55.1"));
  EXPECT_FALSE(is_newer_than_known_git("")) << "a git that does not say is an old one";
  EXPECT_TRUE(is_newer_than_known_git("2.56.0"));
  EXPECT_TRUE(is_newer_than_known_git("2.100"));
  EXPECT_TRUE(is_newer_than_known_git("3.0.0"));
}

}  // namespace
}  // namespace sallyport
