#include "locate/trust.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "os/test_dir.h"

namespace sallyport {
namespace {

struct stat node(mode_t mode, uid_t uid = 0, gid_t gid = 0) {
  struct stat info{};
  info.st_mode = mode;
  info.st_uid = uid;
  info.st_gid = gid;
  return info;
}

// Nobody can make the default path, so it has no ACL.
bool passes(const struct stat& info, NodeRole role = NodeRole::kLookedUpIn,
            TrustContext context = {.uid = 1000, .gid = 1000}, const std::filesystem::path& path = "/proc/none/bin") {
  return !judge(info, path, role, context);
}

TEST(Trust, OnlyRootAndOurselvesAreTrustedOwners) {
  EXPECT_TRUE(passes(node(S_IFDIR | 0755, 0)));
  EXPECT_TRUE(passes(node(S_IFDIR | 0755, 1000)));
  EXPECT_FALSE(passes(node(S_IFDIR | 0755, 1001)));
  EXPECT_FALSE(passes(node(S_IFLNK | 0777, 1001), NodeRole::kSymlink));
  EXPECT_TRUE(passes(node(S_IFLNK | 0777, 1000), NodeRole::kSymlink));
}

TEST(Trust, AGroupMayWriteOnlyWhenItIsRootsOrOurPrivateOne) {
  EXPECT_TRUE(passes(node(S_IFDIR | 0775, 0, 0)));
  EXPECT_TRUE(passes(node(S_IFDIR | 0775, 1000, 1000)));
  EXPECT_FALSE(passes(node(S_IFDIR | 02775, 0, 50)));  // Debian's root:staff /usr/local/bin
  EXPECT_FALSE(passes(node(S_IFDIR | 0775, 1000, 100), NodeRole::kLookedUpIn, {.uid = 1000, .gid = 100}));  // "users"
  EXPECT_FALSE(passes(node(S_IFREG | 0775, 0, 50), NodeRole::kFile));
}

TEST(Trust, AWorldWritableDirectoryMayOnlyBePassedThroughAndOnlyWhenSticky) {
  EXPECT_TRUE(passes(node(S_IFDIR | 01777), NodeRole::kPassedThrough));
  EXPECT_FALSE(passes(node(S_IFDIR | 0777), NodeRole::kPassedThrough));
  EXPECT_FALSE(passes(node(S_IFDIR | 01777), NodeRole::kLookedUpIn));
  EXPECT_FALSE(passes(node(S_IFREG | 01777), NodeRole::kFile));
}

TEST(Trust, TheRepoIsNeverTrusted) {
  const TrustContext context{.uid = 0, .gid = 0, .unmapped_root = {}, .repo = "/src/theirs"};
  EXPECT_FALSE(passes(node(S_IFDIR | 0755), NodeRole::kLookedUpIn, context, "/src/theirs"));
  EXPECT_FALSE(passes(node(S_IFDIR | 0755), NodeRole::kLookedUpIn, context, "/src/theirs/node_modules/.bin"));
  EXPECT_TRUE(passes(node(S_IFDIR | 0755), NodeRole::kLookedUpIn, context, "/src/theirs2/bin"));
}

TEST(Trust, AnUnmappedRootOwnsUsrAndNothingElse) {
  const TrustContext context{.uid = 1000, .gid = 1000, .unmapped_root = 65534, .repo = {}};
  EXPECT_TRUE(passes(node(S_IFDIR | 0755, 65534), NodeRole::kPassedThrough, context, "/"));
  EXPECT_TRUE(passes(node(S_IFDIR | 0755, 65534), NodeRole::kLookedUpIn, context, "/usr/bin"));
  EXPECT_FALSE(passes(node(S_IFDIR | 0755, 65534), NodeRole::kLookedUpIn, context, "/home/other/bin"));
  EXPECT_FALSE(passes(node(S_IFDIR | 0755, 65534), NodeRole::kLookedUpIn, {.uid = 1000, .gid = 1000}, "/usr/bin"));
}

TEST(Trust, TheSystemsOwnDirectoriesAreTrusted) {
  EXPECT_TRUE(trusted_directory("/usr/bin", TrustContext::current({})));
  const auto through_symlink = trusted_directory("/proc/self/root/usr/bin", TrustContext::current({}));
  if (through_symlink) {
    EXPECT_EQ(through_symlink->path, "/usr/bin");
  }
}

class TrustWalk : public testing::Test {
 protected:
  [[nodiscard]] Trusted<TrustedNode> file(std::string_view name) const { return trusted_file(dir_ / name, context_); }
  [[nodiscard]] std::filesystem::path real(std::string_view name) const {
    return std::filesystem::canonical(dir_ / name);
  }

  TestDir dir_;
  TrustContext context_ = TrustContext::current({});
};

TEST_F(TrustWalk, FollowsSymlinksAndDotDotToTheEnd) {
  dir_.file("real/deep/tool", "x", 0755);
  std::filesystem::create_symlink("../real/./deep/../deep/tool", dir_.directory("bin") / "tool");
  std::filesystem::create_symlink(dir_ / "bin/tool", dir_ / "absolute");
  std::filesystem::create_directory_symlink("real/deep", dir_ / "dirlink");
  for (const char* name : {"real/deep/tool", "bin/tool", "absolute", "dirlink/tool", "bin/../dirlink/tool"}) {
    const auto found = file(name);
    ASSERT_TRUE(found) << name << ": " << found.error().where << " " << found.error().why;
    EXPECT_EQ(found->path, real("real/deep/tool"));
  }
}

TEST_F(TrustWalk, EveryHopOfASymlinkChainIsJudged) {
  dir_.file("good/tool", "x", 0755);
  std::filesystem::create_symlink(dir_ / "good/tool", dir_.directory("open", 0755) / "tool");
  std::filesystem::create_symlink(dir_ / "open/tool", dir_.directory("bin") / "tool");
  EXPECT_TRUE(file("bin/tool"));  // positive control
  ::chmod((dir_ / "open").c_str(), 0777);
  auto refused = file("bin/tool");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_number, 0);
  EXPECT_EQ(refused.error().where, real("open"));
  ::chmod((dir_ / "open").c_str(), 01777);  // sticky is for passing through, not for looking up
  EXPECT_FALSE(file("bin/tool"));
}

TEST_F(TrustWalk, AWritableAncestorIsAsBadAsAWritableDirectory) {
  dir_.file("a/b/bin/tool", "x", 0755);
  EXPECT_TRUE(file("a/b/bin/tool"));
  ::chmod((dir_ / "a").c_str(), 0777);
  EXPECT_FALSE(file("a/b/bin/tool"));
  ::chmod((dir_ / "a").c_str(), 01777);
  EXPECT_TRUE(file("a/b/bin/tool"));
}

TEST_F(TrustWalk, DanglingLoopingAndMissingNamesSaySo) {
  std::filesystem::create_symlink("nowhere", dir_ / "dangling");
  std::filesystem::create_symlink("loop2", dir_ / "loop1");
  std::filesystem::create_symlink("loop1", dir_ / "loop2");
  dir_.file("file", "x");
  EXPECT_EQ(file("dangling").error().error_number, ENOENT);
  EXPECT_EQ(file("loop1").error().error_number, ELOOP);
  EXPECT_EQ(file("missing").error().error_number, ENOENT);
  EXPECT_EQ(file("file/below").error().error_number, ENOTDIR);
  EXPECT_EQ(trusted_directory(dir_ / "file", context_).error().error_number, ENOTDIR);
  EXPECT_EQ(trusted_directory("usr/bin", context_).error().error_number, 0);  // relative: a rule, not an errno
}

TEST_F(TrustWalk, AnotherUsersFileOrSymlinkIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  dir_.file("bin/tool", "x", 0755);
  std::filesystem::create_symlink("tool", dir_ / "bin/link");
  EXPECT_TRUE(file("bin/link"));
  ASSERT_EQ(::lchown((dir_ / "bin/link").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(file("bin/link"));
  EXPECT_TRUE(file("bin/tool"));
  ASSERT_EQ(::chown((dir_ / "bin/tool").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(file("bin/tool"));
}

}  // namespace
}  // namespace sallyport
