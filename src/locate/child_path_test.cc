#include "locate/child_path.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "os/test_dir.h"

namespace sallyport {
namespace {

class ChildPathTest : public testing::Test {
 protected:
  [[nodiscard]] std::string kept(const std::string& path) const {
    return trusted_entries(path, TrustContext::current(std::filesystem::canonical(dir_.path()) / "repo"));
  }

  TestDir dir_;
};

TEST_F(ChildPathTest, KeepsTrustedEntriesInOrderAndAsWritten) {
  const std::string mine = dir_.directory("mine").native();
  EXPECT_EQ(kept("/usr/bin:" + mine + ":/bin"), "/usr/bin:" + mine + ":/bin");
  EXPECT_EQ(kept("/usr/bin/../bin"), "/usr/bin/../bin");
}

TEST_F(ChildPathTest, LeavesOutWhatMeansTheWorkingDirectory) {
  EXPECT_EQ(kept(":/usr/bin::.:bin:./x:../y:"), "/usr/bin");
  EXPECT_EQ(kept(""), "");
  EXPECT_EQ(kept(":"), "");
}

TEST_F(ChildPathTest, LeavesOutTheRepoAndWhatOthersCanWrite) {
  const std::string in_repo = dir_.directory("repo/node_modules/.bin").native();
  const std::string open = dir_.directory("open", 0777).native();
  const std::string sticky = dir_.directory("sticky", 01777).native();
  const std::string below_open = dir_.directory("open/bin").native();
  EXPECT_EQ(kept(in_repo + ":" + open + ":" + sticky + ":" + below_open + ":/usr/bin"), "/usr/bin");
}

TEST_F(ChildPathTest, FollowsSymlinksToWhereTheyLead) {
  const std::string open = dir_.directory("open", 0777).native();
  const std::string in_repo = dir_.directory("repo/bin").native();
  std::filesystem::create_directory_symlink(open, dir_ / "to_open");
  std::filesystem::create_directory_symlink(in_repo, dir_ / "to_repo");
  std::filesystem::create_directory_symlink("/usr/bin", dir_ / "to_usr");
  EXPECT_EQ(kept((dir_ / "to_open").native() + ":" + (dir_ / "to_repo").native()), "");
  EXPECT_EQ(kept((dir_ / "to_usr").native()), (dir_ / "to_usr").native());
}

TEST_F(ChildPathTest, LeavesOutWhatDoesNotExistBecauseOthersMightMakeIt) {
  EXPECT_EQ(kept((dir_ / "absent").native() + ":/usr/bin:/usr/bin/env"), "/usr/bin");
}

TEST_F(ChildPathTest, IsWorkedOutForEachRepo) {
  const std::filesystem::path root = std::filesystem::canonical(dir_.path());
  const std::string bin = dir_.directory("one/bin").native();
  ChildPath path("/usr/bin:" + bin);
  EXPECT_EQ(path.trusted_for(root / "two"), "/usr/bin:" + bin);
  EXPECT_EQ(path.trusted_for(root / "one"), "/usr/bin");
  EXPECT_EQ(path.trusted_for(root / "two"), "/usr/bin:" + bin);
}

}  // namespace
}  // namespace sallyport
