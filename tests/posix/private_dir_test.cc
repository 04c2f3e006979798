// The private directory of a run, by POSIX alone (C16).
#include "os/posix/private_dir.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

class PrivateDirTest : public testing::Test {
 protected:
  PrivateDirTest() { fs::create_directories(root_); }

  TempDir dir_;
  const fs::path root_ = dir_ / "root";
};

TEST_F(PrivateDirTest, RemovesWhatAToolLeftWithoutPermissions_C16) {
  {
    Result<posix::PrivateDir> made = posix::PrivateDir::create(root_, {"tmp"});
    ASSERT_TRUE(made);
    fs::create_directories(made->path() + "/tmp/a/b/c");
    fs::create_directories(dir_ / "kept");
    fs::create_symlink(dir_.path(), made->path() + "/tmp/a/out");
    fs::permissions(made->path() + "/tmp/a", fs::perms::none);
    EXPECT_EQ(posix::sweep_private_dirs(root_), 0U) << "its owner is alive";
  }
  EXPECT_TRUE(fs::is_empty(root_));
  EXPECT_TRUE(fs::exists(dir_ / "kept")) << "a symlink was followed";
}

// A new directory is not locked for a moment, and a sweep may take it for one whose owner was killed.
TEST_F(PrivateDirTest, IsMadeWhileOthersSweep_C16) {
  std::atomic<std::size_t> swept = 0;
  std::vector<std::jthread> sweepers;
  for (int i = 0; i < 3; ++i) {
    sweepers.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) swept += posix::sweep_private_dirs(root_);
    });
  }
  for (int round = 0; round < 20'000 && (round < 2'000 || swept == 0); ++round) {
    const Result<posix::PrivateDir> made = posix::PrivateDir::create(root_, {"home", "tmp"});
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_TRUE(fs::is_directory(made->path() + "/tmp"));
  }
  sweepers.clear();
  EXPECT_GT(swept, 0U) << "the control: no sweep met a directory that was not locked yet";
  EXPECT_TRUE(fs::is_empty(root_));
}

}  // namespace
}  // namespace sallyport::test
