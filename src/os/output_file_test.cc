#include "os/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>

#include "os/file.h"
#include "os/test_dir.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    fs::create_directories(repo() / "out");
    fs::create_directory(victim());
  }
  [[nodiscard]] fs::path repo() const { return dir_.path() / "repo"; }
  [[nodiscard]] fs::path victim() const { return dir_.path() / "victim"; }
  [[nodiscard]] Result<OutputFile> settle(const fs::path& path) const {
    const std::array strangers{fs::canonical(repo())};
    return OutputFile::settle("receipt", path, strangers);
  }
  [[nodiscard]] static std::string content(const fs::path& path) {
    return read_whole_file(path, mebibytes(1)).value_or("nothing");
  }
  TestDir dir_;
};

TEST_F(OutputFileTest, ReplacesARegularFileAndMakesOneThatWasNotThere) {
  dir_.file("repo/out/old", "old");
  for (const char* name : {"old", "new"}) {
    ASSERT_TRUE(settle(repo() / "out" / name).value().replace("text"));
    EXPECT_EQ(content(repo() / "out" / name), "text");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(repo() / "out"), {}), 2) << "a temporary file is left";
}

TEST_F(OutputFileTest, WritesIntoTheDirectoryThatWasNamedThoughASymlinkHasItsNameNow) {
  const OutputFile file = settle(repo() / "out/receipt").value();
  fs::rename(repo() / "out", repo() / "away");
  fs::create_directory_symlink(victim(), repo() / "out");
  ASSERT_TRUE(file.replace("text"));
  EXPECT_TRUE(fs::is_empty(victim()));
  EXPECT_EQ(content(repo() / "away/receipt"), "text");
}

TEST_F(OutputFileTest, ASymlinkThatARunPutAtTheNameIsReplaced) {
  const OutputFile file = settle(repo() / "out/receipt").value();
  fs::create_symlink(victim() / "planted", repo() / "out/receipt");
  ASSERT_TRUE(file.replace("text"));
  EXPECT_TRUE(fs::is_empty(victim()));
  EXPECT_EQ(content(repo() / "out/receipt"), "text");
}

TEST_F(OutputFileTest, ADirectorySymlinkOfTheReposIsRefusedAndOneOfThePersonsIsFollowed) {
  fs::create_directory_symlink(victim(), repo() / "link");
  EXPECT_FALSE(settle(repo() / "link/receipt"));
  EXPECT_FALSE(settle(repo() / "out/../link/receipt"));
  fs::create_directory_symlink(victim(), dir_.path() / "mine");
  ASSERT_TRUE(settle(dir_.path() / "mine/receipt").value().replace("text"));
  EXPECT_EQ(content(victim() / "receipt"), "text");
}

TEST_F(OutputFileTest, WhatIsNoRegularFileIsRefusedAndStaysWhatItIs) {
  const fs::path fifo = dir_.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  fs::create_symlink("/proc/self/fd/1", dir_.path() / "stdout");
  for (const fs::path& path :
       {fs::path("/dev/null"), fifo, dir_.path() / "stdout", victim(), victim() / "", victim() / "."}) {
    const Result<OutputFile> refused = settle(path);
    ASSERT_FALSE(refused) << path;
    EXPECT_NE(refused.error().as<InvalidRequest>(), nullptr) << path;
  }
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_TRUE(fs::is_fifo(fifo));
}

}  // namespace
}  // namespace sallyport
