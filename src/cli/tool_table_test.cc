#include "cli/tool_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "os/test_dir.h"

namespace sallyport::cli {
namespace {

TEST(ToolTable, FindsTheVersionInWhatAToolSays_C29) {
  EXPECT_EQ(version_in("git version 2.39.5\n"), "2.39.5");
  EXPECT_EQ(version_in("v20.20.2\n"), "20.20.2");
  EXPECT_EQ(version_in("ripgrep 13.0.0 (rev af6b6c543b)"), "13.0.0");
  EXPECT_EQ(version_in("Docker version 27.1.1, build 6312585"), "27.1.1");
  EXPECT_EQ(version_in("no number"), "");
}

TEST(ToolTable, NamesTheInstallCommandOfThisSystem_C29) {
  EXPECT_EQ(install_command("apt-get install git", "ID=debian\n"), "apt-get install git");
  EXPECT_EQ(install_command("apt-get install git", "NAME=Fedora\nID=fedora\n"), "dnf install git");
  EXPECT_EQ(install_command("apt-get install git", "ID=\"alpine\"\n"), "apk add git");
  EXPECT_EQ(install_command("cargo install ast-grep", "ID=fedora\n"), "cargo install ast-grep");
}

TEST(ToolTable, SaysWhoCouldPutAnotherFileThere_C29) {
  const TestDir dir;
  const std::filesystem::path file = dir.file("bin/tool", "x");
  const auto has = [&](const std::string& who) {
    const std::vector<std::string> writers = writers_of(file);
    return std::ranges::find(writers, who) != writers.end();
  };
  EXPECT_TRUE(has("root"));
  EXPECT_FALSE(has("everyone"));
  EXPECT_EQ(::chmod((dir / "bin").c_str(), 0777), 0);
  EXPECT_TRUE(has("everyone"));
  EXPECT_EQ(::chmod((dir / "bin").c_str(), 01777), 0);
  EXPECT_FALSE(has("everyone"));
  EXPECT_EQ(::chmod(file.c_str(), 0720), 0);
  EXPECT_TRUE(has(fmt::format("gid {}", ::getegid())));
  if (::geteuid() != 0) return;
  EXPECT_EQ(::chown(file.c_str(), 4711, 4712), 0);
  EXPECT_TRUE(has("uid 4711"));
  EXPECT_TRUE(has("gid 4712"));
}

TEST(ToolTable, OnlyAMissingMandatoryToolCounts_C29) {
  ToolRow row{.name = "git", .need = Need::kMandatory, .state = ToolRow::State::kPresent};
  EXPECT_FALSE(lacks_mandatory({row}));
  row.state = ToolRow::State::kMissing;
  EXPECT_TRUE(lacks_mandatory({row}));
  row.need = Need::kOptional;
  EXPECT_FALSE(lacks_mandatory({row}));
}

}  // namespace
}  // namespace sallyport::cli
