#include "core/view/git_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sallyport {
namespace {

std::string value_of(std::string_view text, std::string_view key) {
  for (const GitSetting& setting : parse_git_config(text).value_or(std::vector<GitSetting>())) {
    if (setting.key == key) return setting.value;
  }
  return "(none)";
}

TEST(GitConfig, IsReadAsGitReadsIt) {
  EXPECT_EQ(value_of("[Core]\n\tFsMonitor = x y # z\n", "core.fsmonitor"), "x y");
  EXPECT_EQ(value_of("[core] bare=true", "core.bare"), "true");
  EXPECT_EQ(value_of("[remote \"O\\\"r\"]\nurl = \"a;b\" c\n", "remote.O\"r.url"), "a;b c");
  EXPECT_EQ(value_of("[core]\nfsmonitor = one\\\n two\n", "core.fsmonitor"), "one two");
  EXPECT_EQ(value_of("\xef\xbb\xbf[core]\r\nbare\r\n", "core.bare"), "");
  EXPECT_EQ(value_of("; c\n# d\n[a.B]\nc=1\n", "a.b.c"), "1");
}

TEST(GitConfig, WhatMightBeReadOtherwiseIsNotRead) {
  for (const std::string_view text : {"core.bare = true\n", "[core\nbare=1", "[core]\nx = \"open\n", "[core]\n1 2\n",
                                      "[core]\nx = \\q\n", "[core \"a\n\"]\nx=1\n", "[c_d]\nx=1\n"}) {
    EXPECT_FALSE(parse_git_config(text)) << text;
  }
  EXPECT_FALSE(parse_git_config(std::string_view("[core]\nx=\0y\n", 12)));
}

TEST(GitConfig, WhatGitWritesForANewRepoIsHarmless) {
  EXPECT_EQ(harm_in_git_config("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
                               "\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = https://git.test/x\n"
                               "\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n"
                               "\tremote = origin\n\tmerge = refs/heads/main\n",
                               "sub/.git"),
            std::nullopt);
  EXPECT_EQ(harm_in_git_config("[core]\n\tworktree = ../../../sub\n", ".git/modules/sub"), std::nullopt);
}

TEST(GitConfig, WhatNamesAProgramOrAnotherPlaceIsHarm) {
  for (const std::string_view text :
       {"[core]\nfsmonitor = x\n", "[CORE]\nfsMonitor = x\n", "[core]\nhooksPath = /tmp\n", "[include]\npath = x\n",
        "[includeIf \"gitdir:/\"]\npath = x\n", "[filter \"a\"]\nclean = x\n", "[alias]\nst = !x\n",
        "[core]\nworktree = /home\n", "[core]\nworktree = ../../../..\n", "[remote \"o\"]\nurl = ext::sh -c x\n",
        "[remote \"o\"]\nuploadpack = x\n", "[credential]\nhelper = x\n", "[gpg]\nprogram = x\n", "garbage",
        "[diff \"a\"]\ntextconv = x\n", "[hook \"a\"]\ncommand = x\n"}) {
    EXPECT_TRUE(harm_in_git_config(text, "sub/.git")) << text;
  }
}

TEST(GitConfig, ProgramsItNamesAreFoundAsPathsAndAsWords) {
  const std::vector<NamedProgram> named = programs_in_git_config(
      "[core]\nhooksPath = .husky/_\n[filter \"x\"]\nclean = sh ./tools/clean.sh %f\n[remote \"o\"]\nurl = src\n");
  const auto has = [&](std::string_view text, bool is_path) {
    return std::ranges::any_of(named, [&](const NamedProgram& n) { return n.text == text && n.is_path == is_path; });
  };
  EXPECT_TRUE(has(".husky/_", true));
  EXPECT_TRUE(has("./tools/clean.sh", false));
  EXPECT_FALSE(has("src", false));
}

TEST(GitFile, LeadsWhereGitGoes) {
  EXPECT_EQ(gitdir_target("gitdir: ../.git/modules/a\n"), "../.git/modules/a");
  EXPECT_EQ(gitdir_target("gitdir: /a b\r\n"), "/a b");
  EXPECT_EQ(gitdir_target("gitdir:/a\n"), std::nullopt);
  EXPECT_EQ(gitdir_target("gitdir: \n"), std::nullopt);
}

TEST(GitTodo, OnlyCommandsBecomeComments) {
  EXPECT_EQ(without_exec_lines("pick 1 exec\n exec rm -rf x\nx\ty\nexecute\n"),
            "pick 1 exec\n#  exec rm -rf x\n# x\ty\nexecute\n");
  EXPECT_EQ(without_exec_lines("pick 1 a\nlabel x"), std::nullopt);
  EXPECT_EQ(without_exec_lines(""), std::nullopt);
}

}  // namespace
}  // namespace sallyport
