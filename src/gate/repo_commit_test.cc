// Which commit a repo is at, when the repo tries to claim another.
#include "gate/repo_commit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "os/test_dir.h"

namespace sallyport {
namespace {

const std::string kOne(40, 'a');
const std::string kTwo(40, 'b');

class RepoCommitTest : public testing::Test {
 protected:
  [[nodiscard]] std::optional<std::string> commit() const { return repo_commit(dir_ / "repo"); }
  // As `git worktree add` leaves it.
  void make_worktree() const {
    dir_.file("main/.git/HEAD", "ref: refs/heads/main\n");
    dir_.directory("main/.git/objects");
    dir_.file("main/.git/refs/heads/main", kTwo + "\n");
    dir_.file("main/.git/refs/heads/topic", kOne + "\n");
    dir_.file("main/.git/worktrees/wt/HEAD", "ref: refs/heads/topic\n");
    dir_.file("main/.git/worktrees/wt/commondir", "../..\n");
    dir_.file("main/.git/worktrees/wt/gitdir", (dir_ / "repo/.git").native() + "\n");
    dir_.file("repo/.git", "gitdir: " + (dir_ / "main/.git/worktrees/wt").native() + "\n");
  }

  TestDir dir_;
};

TEST_F(RepoCommitTest, C33_is_read_from_HEAD_a_branch_or_packed_refs) {
  EXPECT_FALSE(commit());
  dir_.file("repo/.git/HEAD", kOne + "\n");
  EXPECT_EQ(commit(), kOne);
  dir_.file("repo/.git/HEAD", "ref: refs/heads/main\n");
  EXPECT_FALSE(commit());
  dir_.file("repo/.git/packed-refs", "# pack-refs\n" + kTwo + " refs/heads/main\n");
  EXPECT_EQ(commit(), kTwo);
  dir_.file("repo/.git/refs/heads/main", kOne + "\n");
  EXPECT_EQ(commit(), kOne);
  // An untrusted repo cannot lead us elsewhere.
  dir_.file("repo/.git/HEAD", "ref: refs/../../../../../../etc/hostname\n");
  EXPECT_FALSE(commit());
}

TEST_F(RepoCommitTest, C33_of_a_linked_worktree_is_its_own) {
  make_worktree();
  EXPECT_EQ(commit(), kOne);
  dir_.file("main/.git/worktrees/wt/HEAD", kTwo + "\n");  // detached
  EXPECT_EQ(commit(), kTwo);
}

TEST_F(RepoCommitTest, C33_of_a_submodule_is_its_own) {
  dir_.file("super/.git/modules/sub/HEAD", kOne + "\n");
  dir_.directory("super/.git/modules/sub/objects");
  dir_.directory("super/.git/modules/sub/refs");
  dir_.file("super/.git/modules/sub/config", "[core]\n\tworktree = ../../../../repo\n");
  dir_.file("repo/.git", "gitdir: ../super/.git/modules/sub\n");
  EXPECT_EQ(commit(), kOne);
}

// Attack: a repo that claims another repo's commit.
TEST_F(RepoCommitTest, C33_is_not_borrowed_from_what_does_not_point_back) {
  make_worktree();
  ASSERT_EQ(commit(), kOne);  // the control
  dir_.file("main/.git/worktrees/wt/gitdir", (dir_ / "other/.git").native() + "\n");
  EXPECT_FALSE(commit());
  dir_.file("repo/.git", "gitdir: " + (dir_ / "main/.git").native() + "\n");
  EXPECT_FALSE(commit());
}

}  // namespace
}  // namespace sallyport
