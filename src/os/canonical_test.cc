#include "os/canonical.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/test_dir.h"
#include "support/forked.h"

namespace sallyport {
namespace {

using test::ask_as_plain_user;
using test::give_to_plain_user;

TEST(Canonical, ResolvesEverySymlinkAndDot) {
  const TestDir dir;
  dir.directory("a/b");
  std::filesystem::create_directory_symlink("a", dir / "link");
  EXPECT_EQ(canonical_directory(dir / "link/../link/./b/").value(), std::filesystem::canonical(dir / "a/b"));
}

TEST(Canonical, OnlyLeadingDotsClimbFromHere) {
  const std::filesystem::path here = std::filesystem::current_path();
  EXPECT_EQ(absolute_from_here("../x").value(), here.parent_path() / "x");
  EXPECT_EQ(absolute_from_here("./../../x").value(), here.parent_path().parent_path() / "x");
  EXPECT_EQ(absolute_from_here("../a/../x").value(), here.parent_path() / "a/../x") << "a may be a symlink";
  EXPECT_EQ(absolute_from_here("/a/../x").value(), "/a/../x");
  EXPECT_EQ(absolute_from_here("../../../../../../../../../../../../../../x").value(), "/x");
}

TEST(Canonical, CallersMistakesAreInvalidRequestsWithAHint) {
  const TestDir dir;
  dir.file("file", "");
  std::filesystem::create_symlink("nowhere", dir / "dangling");
  std::filesystem::create_symlink("loop", dir / "loop");
  const std::string nul("a\0b", 3);
  for (const std::filesystem::path& bad :
       {dir / "missing", dir / "file", dir / "file/below", dir / "dangling", dir / "loop", std::filesystem::path(),
        std::filesystem::path(nul), std::filesystem::path(std::string(5000, 'x'))}) {
    const auto result = canonical_directory(bad, "cwd");
    ASSERT_FALSE(result) << bad;
    ASSERT_NE(result.error().as<InvalidRequest>(), nullptr) << bad;
    EXPECT_EQ(result.error().as<InvalidRequest>()->field, "cwd");
    EXPECT_FALSE(result.error().hint.empty()) << bad;
  }
}

TEST(Canonical, AnUnreadableDirectoryIsASystemErrorWithAHint) {
  const TestDir dir;
  const auto closed = dir.directory("closed", 0);
  ::chmod(dir.path().c_str(), 0755);
  give_to_plain_user(closed.c_str());
  EXPECT_TRUE(ask_as_plain_user([&] {
    const auto result = canonical_directory(closed);
    return !result && result.error().as<SystemError>() != nullptr &&
           result.error().as<SystemError>()->error_number == EACCES && !result.error().hint.empty();
  }));
  ::chmod(closed.c_str(), 0700);
  EXPECT_TRUE(ask_as_plain_user([&] { return canonical_directory(closed).has_value(); }));  // positive control
}

TEST(Canonical, InsideGoesByComponent) {
  EXPECT_TRUE(is_inside("/repo", "/repo"));
  EXPECT_TRUE(is_inside("/repo/a", "/repo"));
  EXPECT_TRUE(is_inside("/repo", "/"));
  EXPECT_FALSE(is_inside("/repo2", "/repo"));
  EXPECT_FALSE(is_inside("/", "/repo"));
  EXPECT_TRUE(is_inside("/", "/"));
  EXPECT_TRUE(is_inside("/repo/a", "/repo/"));
  EXPECT_TRUE(is_inside(std::filesystem::path("/repo/a"), std::string("/repo")));
  EXPECT_FALSE(is_inside("/rep", "/repo"));
}

}  // namespace
}  // namespace sallyport
