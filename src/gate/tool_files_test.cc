#include "gate/tool_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/view/fs_view.h"
#include "os/test_dir.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;
using Kind = FileRule::Kind;

// A path by the repo's second name in a jail.
std::string inside(std::string_view path) { return std::string(kJailRepo) + std::string(path); }

void touch(const fs::path& path) { std::ofstream(path) << "x"; }

class ToolFiles : public testing::Test {
 protected:
  ToolFiles() {
    fs::create_directories(repo_ / "sub");
    fs::create_directories(outside_);
    touch(outside_ / "victim");
  }

  [[nodiscard]] Status check(Kind kind, const std::string& path, Confinement confinement = Confinement::kNone) const {
    Plan plan;
    plan.repo = repo_;
    plan.cwd = repo_;
    plan.extra_read_write = read_write_;
    plan.files = {{.kind = kind, .path = path, .what = "the report", .hint = "another place"}};
    return check_tool_files(plan, confinement);
  }
  [[nodiscard]] bool allows(Kind kind, const std::string& path, Confinement confinement = Confinement::kNone) const {
    return check(kind, path, confinement).has_value();
  }

  TestDir dir_;
  fs::path repo_ = fs::canonical(dir_.path()) / "repo";
  fs::path outside_ = fs::canonical(dir_.path()) / "outside";
  std::vector<fs::path> read_write_;
};

TEST_F(ToolFiles, AnOutputThatIsAPlainFileOrNotThereYetIsAllowed) {
  touch(repo_ / "old.json");
  for (const std::string path : {"old.json", "new.json", "sub/new.json", "./sub/../new.json", "missing/x.json"}) {
    EXPECT_TRUE(allows(Kind::kOutput, path)) << path;
  }
  EXPECT_TRUE(allows(Kind::kOutput, (repo_ / "new.json").native()));
  EXPECT_TRUE(allows(Kind::kOutput, "/dev/stdout"));
}

TEST_F(ToolFiles, AnOutputThroughASymlinkIsRefusedByName) {
  fs::create_symlink(outside_ / "victim", repo_ / "index.scip");
  fs::create_symlink(outside_ / "not-there", repo_ / "dangling");
  fs::create_directory_symlink(outside_, repo_ / "link");
  for (const std::string path : {"index.scip", "dangling", "link/x", "sub/../link/x", "link/../x", "./index.scip"}) {
    EXPECT_FALSE(allows(Kind::kOutput, path)) << path;
  }
  const Status refused = check(Kind::kOutput, "index.scip");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("'index.scip' is a symlink"), std::string::npos) << refused.error().message;
  EXPECT_EQ(refused.error().hint, "another place");
}

TEST_F(ToolFiles, AnOutputThatIsAHardLinkAFifoOrOutsideIsRefused) {
  fs::create_hard_link(outside_ / "victim", repo_ / "hard");
  ASSERT_EQ(::mkfifo((repo_ / "fifo").c_str(), 0600), 0);
  const std::string up = "../outside/victim";
  for (const std::string& path : {std::string("hard"), std::string("fifo"), up, (outside_ / "new").native(),
                                  std::string("/proc/self/cwd/x"), std::string("/no/such/place/x")}) {
    EXPECT_FALSE(allows(Kind::kOutput, path)) << path;
  }
}

TEST_F(ToolFiles, APatternMeansEveryFileItMatches) {
  fs::create_symlink(outside_ / "victim", repo_ / "0001-evil.patch");
  EXPECT_FALSE(allows(Kind::kOutput, "*.patch"));
  EXPECT_FALSE(allows(Kind::kOutput, "0*-*.patch"));
  EXPECT_TRUE(allows(Kind::kOutput, "*.tgz"));
  EXPECT_TRUE(allows(Kind::kOutput, "sub/*.patch"));
}

TEST_F(ToolFiles, InAJailOnlyWhatIsTheHostsIsChecked) {
  fs::create_symlink(outside_ / "victim", repo_ / "index.scip");
  fs::create_symlink(outside_ / "victim", outside_ / "link");
  EXPECT_FALSE(allows(Kind::kOutput, "index.scip", Confinement::kJailed)) << "it may lead to a writable place";
  EXPECT_TRUE(allows(Kind::kOutput, "/tmp/probe/x", Confinement::kJailed));
  read_write_ = {outside_};
  EXPECT_FALSE(allows(Kind::kOutput, (outside_ / "link").native(), Confinement::kJailed));
  EXPECT_FALSE(allows(Kind::kOutput, inside("/index.scip"), Confinement::kJailed));
  EXPECT_FALSE(allows(Kind::kOutput, inside("/sub/../index.scip"), Confinement::kJailed));
}

TEST_F(ToolFiles, WhatIsObeyedMustNotBeTheRepos) {
  touch(repo_ / "sgconfig.yml");
  touch(outside_ / "mine.yml");
  fs::create_symlink(outside_ / "mine.yml", repo_ / "to-outside.yml");
  fs::create_symlink(repo_ / "sgconfig.yml", outside_ / "to-repo.yml");
  for (const std::string& path :
       {std::string("sgconfig.yml"), std::string("to-outside.yml"), (outside_ / "to-repo.yml").native(),
        std::string("/proc/self/cwd/sgconfig.yml"), std::string("missing.yml"), std::string("/dev/stdin")}) {
    EXPECT_FALSE(allows(Kind::kOutsideRepo, path)) << path;
  }
  EXPECT_FALSE(allows(Kind::kOutsideRepo, inside("/sgconfig.yml"), Confinement::kJailed));
  EXPECT_TRUE(allows(Kind::kOutsideRepo, (outside_ / "mine.yml").native()));
  EXPECT_TRUE(allows(Kind::kOutsideRepo, "../outside/mine.yml"));
}

TEST_F(ToolFiles, WhatWouldBeObeyedMustBeAbsent) {
  EXPECT_TRUE(allows(Kind::kAbsent, ".syft*"));
  EXPECT_TRUE(allows(Kind::kAbsent, "sub/.gitleaksignore"));
  fs::create_directory(repo_ / ".syft");
  touch(repo_ / "sub" / ".gitleaksignore");
  EXPECT_FALSE(allows(Kind::kAbsent, ".syft*"));
  EXPECT_FALSE(allows(Kind::kAbsent, "sub/.gitleaksignore"));
  EXPECT_FALSE(allows(Kind::kAbsent, inside("/sub/.gitleaksignore"), Confinement::kJailed));
}

TEST_F(ToolFiles, AnArgumentThatMayBeRewrittenIsRefusedOnlyAsALink) {
  fs::create_symlink(outside_ / "victim", repo_ / "a.js");
  EXPECT_FALSE(allows(Kind::kRewritten, "a.js"));
  for (const std::string path : {"let a = $A", ".", "sub", "a/b(c)", "/elsewhere/x.js", "", "sub/"}) {
    EXPECT_TRUE(allows(Kind::kRewritten, path)) << path;
  }
}

TEST_F(ToolFiles, APlaceToActInIsTheReposOwnAfterEverySymlink) {
  fs::create_directory_symlink(outside_, repo_ / "away");
  fs::create_directory_symlink("sub", repo_ / "here");
  for (const std::string& path :
       {std::string("."), std::string("sub/.."), std::string("here"), std::string("missing"), repo_.native()}) {
    EXPECT_TRUE(allows(Kind::kInsideRepo, path)) << path;
  }
  for (const std::string path : {"..", "away", "away/..", "sub/../..", "/", "missing/../..", "/proc/self/cwd"}) {
    EXPECT_FALSE(allows(Kind::kInsideRepo, path)) << path;
  }
  EXPECT_TRUE(allows(Kind::kInsideRepo, inside("/sub"), Confinement::kJailed)) << "the jail's second name of the repo";
}

TEST_F(ToolFiles, TheWorkingDirectoryMayBeNamedInAnyWayButIsNothingElse) {
  fs::create_directory_symlink(repo_, outside_ / "link");
  for (const std::string& path : {repo_.native(), repo_.native() + "/.", (outside_ / "link").native()}) {
    EXPECT_TRUE(allows(Kind::kWorkingDirectory, path)) << path;
  }
  for (const std::string& path :
       {(repo_ / "sub").native(), outside_.native(), std::string("/"), std::string("/gone")}) {
    EXPECT_FALSE(allows(Kind::kWorkingDirectory, path)) << path;
  }
}

}  // namespace
}  // namespace sallyport
