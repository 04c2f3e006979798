// A repo's `.git` may point anywhere. Only a directory that points back, and belongs to the same user, is shown.
#include "gate/linked_git.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "os/test_dir.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

class LinkedGitTest : public testing::Test {
 protected:
  // As `git worktree add` leaves it.
  void make_worktree() const {
    make_git("main/.git");
    dir_.file("main/.git/worktrees/wt/commondir", "../..\n");
    dir_.file("main/.git/worktrees/wt/HEAD", "ref: refs/heads/wt\n");
    dir_.file("main/.git/worktrees/wt/gitdir", (repo() / ".git").native() + "\n");
    dir_.file("wt/.git", "gitdir: " + (dir_ / "main/.git/worktrees/wt").native() + "\n");
  }
  void make_git(const std::string& name) const {
    dir_.file(name + "/HEAD", "ref: refs/heads/main\n");
    dir_.directory(name + "/objects/info");
    dir_.directory(name + "/refs");
  }
  [[nodiscard]] fs::path repo() const { return dir_ / "wt"; }
  [[nodiscard]] LinkedGit find() const { return find_linked_git(repo()); }
  [[nodiscard]] std::vector<fs::path> shown() const { return find().shown; }
  void expect_hidden(std::string_view why) const {
    const LinkedGit found = find();
    EXPECT_TRUE(found.shown.empty()) << found.shown.front();
    ASSERT_EQ(found.hidden.size(), 1U);
    EXPECT_NE(found.hidden.front().why.find(why), std::string::npos) << found.hidden.front().why;
  }

  TestDir dir_;
};

TEST_F(LinkedGitTest, AWorktreeShowsTheCommonDirectory) {
  make_worktree();
  EXPECT_EQ(shown(), std::vector{dir_ / "main/.git"});
  // With relative paths, as git 2.48 can write them.
  dir_.file("main/.git/worktrees/wt/gitdir", "../../../../wt/.git\n");
  dir_.file("wt/.git", "gitdir: ../main/.git/worktrees/wt\n");
  EXPECT_EQ(shown(), std::vector{dir_ / "main/.git"});
}

TEST_F(LinkedGitTest, ASubmoduleShowsItsOwnDirectoryOnly) {
  make_git("super/.git/modules/sub");
  dir_.file("super/.git/modules/sub/config", "[core]\n\tworktree = ../../../../wt\n");
  dir_.file("wt/.git", "gitdir: ../super/.git/modules/sub\n");
  EXPECT_EQ(shown(), std::vector{dir_ / "super/.git/modules/sub"});
  dir_.file("super/.git/modules/sub/config", "[core]\n\tworktree = ../../../../elsewhere\n");
  dir_.directory("elsewhere");
  expect_hidden("does not point back");
}

TEST_F(LinkedGitTest, AnOrdinaryRepoAndAPointerIntoTheRepoNeedNothing) {
  dir_.directory("wt");
  EXPECT_TRUE(shown().empty());
  make_git("wt/.bare");
  dir_.file("wt/.git", "gitdir: ./.bare\n");
  EXPECT_TRUE(find().shown.empty());
  EXPECT_TRUE(find().hidden.empty());
}

// Attacks: each changes one thing of a worktree that is shown.
TEST_F(LinkedGitTest, ADirectoryThatDoesNotPointBackIsHidden) {
  make_worktree();
  ASSERT_FALSE(shown().empty()) << "the control";
  dir_.file("other/.git", "x");
  dir_.file("main/.git/worktrees/wt/gitdir", (dir_ / "other/.git").native() + "\n");
  expect_hidden("does not point back");
}

TEST_F(LinkedGitTest, ACommonDirectoryOfTheReposChoiceIsNotTaken) {
  make_worktree();
  make_git("private/.git");
  // The repo brings a worktree directory of its own, which names another user's repo as the common one.
  dir_.file("wt/fake/worktrees/x/commondir", (dir_ / "private/.git").native() + "\n");
  dir_.file("wt/fake/worktrees/x/gitdir", (repo() / ".git").native() + "\n");
  dir_.file("wt/.git", "gitdir: fake/worktrees/x\n");
  EXPECT_TRUE(shown().empty());
  // And a directory that a symlink puts into another user's repo.
  fs::remove_all(repo() / "fake/worktrees");
  fs::create_directory_symlink(dir_ / "private/.git", repo() / "fake/worktrees");
  EXPECT_TRUE(shown().empty());
}

TEST_F(LinkedGitTest, ASymlinkInThePlaceOfThePointerIsNotFollowed) {
  make_worktree();
  fs::rename(repo() / ".git", repo() / "pointer");
  fs::create_symlink("pointer", repo() / ".git");
  EXPECT_TRUE(shown().empty());
}

TEST_F(LinkedGitTest, WhatIsNoGitDirectoryIsHidden) {
  make_worktree();
  fs::remove_all(dir_ / "main/.git/objects");
  expect_hidden("not a git directory");
}

TEST_F(LinkedGitTest, AnotherUsersDirectoryIsHidden) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  make_worktree();
  ASSERT_FALSE(shown().empty()) << "the control";
  for (const fs::path& theirs : {dir_ / "main/.git", dir_ / "main/.git/worktrees/wt", dir_ / "wt/.git"}) {
    ASSERT_EQ(::chown(theirs.c_str(), 12345, 12345), 0);
    expect_hidden("another user");
    ASSERT_EQ(::chown(theirs.c_str(), 0, 0), 0);
  }
}

TEST_F(LinkedGitTest, AlternatesAreNamedAndHidden) {
  make_git("wt/.git");
  make_git("source/.git");
  dir_.file("wt/.git/objects/info/alternates", (dir_ / "source/.git/objects").native() + "\n");
  const LinkedGit found = find();
  EXPECT_TRUE(found.shown.empty());
  ASSERT_EQ(found.hidden.size(), 1U);
  EXPECT_EQ(found.hidden.front().path, dir_ / "source/.git/objects");
}

TEST_F(LinkedGitTest, EndlessAlternatesAreBounded) {
  make_git("wt/.git");
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += (dir_ / ("no/" + std::to_string(i))).string() + "\n";
  dir_.file("wt/.git/objects/info/alternates", many);
  EXPECT_LE(find().hidden.size(), 16U);
}

}  // namespace
}  // namespace sallyport
