// Finds git directories in a tree that a tool may have made to hide them or to keep us busy.
#include "gate/git_scan.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "os/test_dir.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

class GitScanTest : public testing::Test {
 protected:
  GitScanTest() : root_(open(dir_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  void file(const fs::path& path) const {
    fs::create_directories((dir_.path() / path).parent_path());
    std::ofstream(dir_.path() / path) << "x";
  }
  [[nodiscard]] GitScan scan(ScanBounds bounds = {}) const {
    if (bounds.deadline == std::chrono::steady_clock::time_point()) {
      bounds.deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    }
    return scan_for_git(root_.get(), bounds);
  }
  [[nodiscard]] static bool has(const GitScan& scan, const FoundGit& wanted) {
    return std::ranges::find(scan.found, wanted) != scan.found.end();
  }

  TestDir dir_;
  UniqueFd root_;
};

TEST_F(GitScanTest, FindsEveryKind) {
  for (const char* path : {".git/HEAD", "a/b/.git", "bare/HEAD", "bare/objects/x", "bare/refs/x", "wt/HEAD",
                           "wt/commondir", "no/HEAD", "no/objects/x"}) {
    file(path);
  }
  fs::create_directories(dir_.path() / ".git/modules");
  fs::create_directory_symlink("../../bare", dir_.path() / ".git/modules/sub");
  fs::create_directories(dir_.path() / "c/modules");
  fs::create_directory_symlink("../../bare", dir_.path() / "c/modules/sub");
  fs::create_symlink("nowhere", dir_.path() / "c/.git");
  const GitScan found = scan();
  EXPECT_EQ(found.incomplete, "");
  EXPECT_TRUE(has(found, {".git", GitKind::kDirectory}));
  EXPECT_TRUE(has(found, {"a/b/.git", GitKind::kFile}));
  EXPECT_TRUE(has(found, {"bare", GitKind::kDirectory}));
  EXPECT_TRUE(has(found, {"wt", GitKind::kDirectory}));
  EXPECT_TRUE(has(found, {".git/modules/sub", GitKind::kSymlink}));
  EXPECT_TRUE(has(found, {"c/.git", GitKind::kSymlink}));
  EXPECT_EQ(found.found.size(), 6U);
}

TEST_F(GitScanTest, FollowsNoSymlinkOutOfTheTree) {
  const TestDir outside;
  fs::create_directories(outside.path() / "x/.git");
  fs::create_directory_symlink(outside.path(), dir_.path() / "link");
  EXPECT_TRUE(scan().found.empty());
}

TEST_F(GitScanTest, SaysWhenABoundIsReached_C35) {
  for (int i = 0; i < 50; ++i) file("d" + std::to_string(i) + "/f");
  EXPECT_EQ(scan().incomplete, "");  // control
  EXPECT_NE(scan({.most_entries = 20}).incomplete, "");
  EXPECT_NE(scan({.most_pending_bytes = 20}).incomplete, "");
  EXPECT_NE(scan({.deadline = std::chrono::steady_clock::now()}).incomplete, "");
  fs::create_directories(dir_.path() / "a/.git");
  fs::create_directories(dir_.path() / "b/.git");
  EXPECT_NE(scan({.most_found = 1}).incomplete, "");
}

TEST_F(GitScanTest, SaysWhenAPathIsTooLongToBeFollowed_C35) {
  UniqueFd at(open(dir_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string name(250, 'n');
  for (int depth = 0; depth < 20; ++depth) {
    ASSERT_EQ(mkdirat(at.get(), name.c_str(), 0755), 0);
    at = UniqueFd(openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  EXPECT_NE(scan().incomplete, "");
}

TEST_F(GitScanTest, ADirectoryThatAToolMadeUnreadableIsReadAndLeftAsItWas) {
  fs::create_directories(dir_.path() / "closed/.git");
  ASSERT_EQ(chmod((dir_.path() / "closed").c_str(), 0311), 0);
  EXPECT_TRUE(has(scan(), {"closed/.git", GitKind::kDirectory}));
  struct stat info{};
  ASSERT_EQ(stat((dir_.path() / "closed").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0311U);
  ASSERT_EQ(chmod((dir_.path() / "closed").c_str(), 0755), 0);
}

}  // namespace
}  // namespace sallyport
