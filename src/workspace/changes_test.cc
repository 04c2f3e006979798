#include "workspace/changes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <filesystem>
#include <fstream>

#include "sallyport/unique_fd.h"

namespace sallyport::workspace {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Two layers as overlayfs leaves them, made by hand without a mount.
class ChangesTest : public testing::Test {
 protected:
  ChangesTest() {
    std::string name = (fs::temp_directory_path() / "sallyport-changes-XXXXXX").native();
    root_ = ::mkdtemp(name.data());
    fs::create_directories(root_ / "lower/dir");
    fs::create_directory(root_ / "upper");
    write("lower/edited", "before");
    write("lower/dir/one", "one");
  }
  ~ChangesTest() override { fs::remove_all(root_); }

  void write(const fs::path& path, std::string_view text) const { std::ofstream(root_ / path) << text; }
  void delete_in_upper(const fs::path& path) const {
    ASSERT_EQ(::mknod((root_ / "upper" / path).c_str(), S_IFCHR, ::makedev(0, 0)), 0);
  }

  using Found = std::vector<std::pair<std::string, ChangeKind>>;
  [[nodiscard]] Found changes() const {
    const UniqueFd upper(::open((root_ / "upper").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const UniqueFd lower(::open((root_ / "lower").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    Result<Changes> changes = overlay_changes(upper.get(), lower.get());
    EXPECT_TRUE(changes.has_value()) << (changes ? "" : changes.error().message);
    Found found;
    if (!changes) return found;
    put_in_order(changes->all);
    for (const Change& change : changes->all) found.emplace_back(change.path, change.kind);
    return found;
  }

  fs::path root_;
};

TEST_F(ChangesTest, AnEmptyUpperLayerChangesNothing) { EXPECT_THAT(changes(), IsEmpty()); }

TEST_F(ChangesTest, ACopyThatIsTheSameIsNoChange) {
  write("upper/edited", "before");
  EXPECT_THAT(changes(), IsEmpty());
  write("upper/edited", "after!");  // the same length as before
  EXPECT_THAT(changes(), ElementsAre(Pair("edited", ChangeKind::kChanged)));
}

TEST_F(ChangesTest, AModeAloneIsAChange) {
  write("upper/edited", "before");
  fs::permissions(root_ / "upper/edited", fs::perms::owner_exec, fs::perm_options::add);
  EXPECT_THAT(changes(), ElementsAre(Pair("edited", ChangeKind::kMetadata)));
}

TEST_F(ChangesTest, ADirectoryThatIsDeletedTakesWhatItHeldWithIt) {
  delete_in_upper("dir");
  EXPECT_THAT(changes(), ElementsAre(Pair("dir", ChangeKind::kDeleted), Pair("dir/one", ChangeKind::kDeleted)));
}

TEST_F(ChangesTest, ADirectoryThatHidesTheOldOneDeletesWhatItDoesNotHave) {
  fs::create_directory(root_ / "upper/dir");
  if (::setxattr((root_ / "upper/dir").c_str(), "user.overlay.opaque", "y", 1, 0) != 0) {
    GTEST_SKIP() << "the file system of the temporary directory has no extended attributes of users";
  }
  write("upper/dir/two", "two");
  EXPECT_THAT(changes(), ElementsAre(Pair("dir/one", ChangeKind::kDeleted), Pair("dir/two", ChangeKind::kCreated)));
}

TEST_F(ChangesTest, ASymlinkInTheUpperLayerIsNotFollowed) {
  fs::create_directory_symlink("/etc", root_ / "upper/dir");
  EXPECT_THAT(changes(), ElementsAre(Pair("dir/one", ChangeKind::kDeleted), Pair("dir", ChangeKind::kReplaced)));
}

TEST_F(ChangesTest, DeletionsComeFirstAndEachPartIsInTheOrderOfItsBytes) {
  delete_in_upper("edited");
  fs::create_directories(root_ / "upper/a");
  // A walk meets a directory's files before "a-b", which sorts before "a/x".
  for (const char* name : {"upper/a/x", "upper/a-b", "upper/a.c"}) write(name, "x");
  EXPECT_THAT(changes(), ElementsAre(Pair("edited", ChangeKind::kDeleted), Pair("a", ChangeKind::kCreated),
                                     Pair("a-b", ChangeKind::kCreated), Pair("a.c", ChangeKind::kCreated),
                                     Pair("a/x", ChangeKind::kCreated)));
}

}  // namespace
}  // namespace sallyport::workspace
