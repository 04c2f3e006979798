// C16: scratch is removed on every path, and by the next start after a SIGKILL.
#include "os/scratch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "os/file.h"
#include "os/owned_dir.h"
#include "os/pipe.h"
#include "os/test_dir.h"
#include "os/test_processes.h"
#include "support/forked.h"

namespace sallyport {
namespace {

std::ptrdiff_t entries(const std::filesystem::path& directory) {
  return std::distance(std::filesystem::directory_iterator(directory), {});
}

TEST(ScratchC16, IsPrivateAndVanishesWithItsOwner) {
  const TestDir root;
  const std::size_t fds = count_open_fds();
  {
    const mode_t old = ::umask(0);
    const ScratchDir scratch = ScratchDir::create(root.path()).value();
    ::umask(old);
    struct stat info{};
    ASSERT_EQ(::lstat(scratch.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0700U);
    EXPECT_EQ(info.st_uid, ::geteuid());
    EXPECT_TRUE(is_owned_dir_name(scratch.path().filename().native(), ::geteuid()));
  }
  EXPECT_EQ(entries(root.path()), 0);
  EXPECT_EQ(count_open_fds(), fds);
}

TEST(ScratchC16, MoveHandsTheDirectoryOver) {
  const TestDir root;
  ScratchDir first = ScratchDir::create(root.path()).value();
  ScratchDir second = std::move(first);
  EXPECT_TRUE(std::filesystem::exists(second.path()));
  second = ScratchDir::create(root.path()).value();  // the old one goes
  EXPECT_EQ(entries(root.path()), 1);
  EXPECT_TRUE(second.remove());
  EXPECT_TRUE(second.remove());
  EXPECT_EQ(entries(root.path()), 0);
}

TEST(ScratchC16, RemovalNeverFollowsASymlink) {
  const TestDir root;
  const TestDir outside;
  outside.file("keep", "x");
  {
    const ScratchDir scratch = ScratchDir::create(root.path()).value();
    std::filesystem::create_directory_symlink(outside.path(), scratch.path() / "dir");
    std::filesystem::create_symlink(outside / "keep", scratch.path() / "file");
    std::filesystem::create_directories(scratch.path() / "a/b");
    std::filesystem::create_directory_symlink(outside.path(), scratch.path() / "a/b/dir");
  }
  EXPECT_EQ(entries(root.path()), 0);
  EXPECT_TRUE(std::filesystem::exists(outside / "keep"));
}

TEST(ScratchC16, RemovesWhatAToolLeavesBehind) {
  const TestDir root;
  {
    const ScratchDir scratch = ScratchDir::create(root.path()).value();
    const auto top = scratch.path();
    std::filesystem::create_directories(top / "closed/inner/deep");
    ASSERT_EQ(::close(::open((top / "closed/inner/file").c_str(), O_CREAT | O_WRONLY, 0)), 0);
    ASSERT_EQ(::close(::open((top / "line\nbreak \xff").c_str(), O_CREAT | O_WRONLY, 0600)), 0);
    std::filesystem::create_directories(top / ".sallyport-moved-0/.sallyport-moved-0/.sallyport-moved-1/x");
    ASSERT_EQ(::mkfifo((top / "fifo").c_str(), 0600), 0);
    ASSERT_EQ(::chmod((top / "closed/inner/deep").c_str(), 0), 0);
    ASSERT_EQ(::chmod((top / "closed/inner").c_str(), 0), 0);
    ASSERT_EQ(::chmod((top / "closed").c_str(), 0), 0);
    ASSERT_EQ(::chmod(top.c_str(), 0), 0);
  }
  EXPECT_EQ(entries(root.path()), 0);
}

TEST(ScratchC16, RemovesAVeryDeepAndAVeryWideTree) {
  // In memory if possible: a disk needs a millisecond for each of these.
  const TestDir root(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path());
  const std::size_t fds = count_open_fds();
  {
    const ScratchDir scratch = ScratchDir::create(root.path()).value();
    constexpr int kDepth = 5000;  // far past PATH_MAX and any descriptor limit
    UniqueFd at(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int level = 0; level < kDepth; ++level) {
      ASSERT_EQ(::mkdirat(at.get(), "d", 0700), 0);
      at = UniqueFd(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      ASSERT_TRUE(at);
    }
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(::mknodat(scratch.fd(), ("f" + std::to_string(i)).c_str(), S_IFREG, 0), 0);
  }
  EXPECT_EQ(entries(root.path()), 0);
  EXPECT_EQ(count_open_fds(), fds);
}

TEST(ScratchC16, AMissingRootIsATypedErrorWithAHint) {
  const auto missing = ScratchDir::create("/proc/self/absent/scratch");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().as<SystemError>()->error_number, ENOENT);
  const auto unwritable = ScratchDir::create("/proc/self");
  ASSERT_FALSE(unwritable);
  EXPECT_NE(unwritable.error().as<SystemError>(), nullptr);
}

bool put(const char* file, const std::string& text) {
  const auto fd = open_path(file, O_WRONLY);
  return fd && write_all(fd->get(), text, file);
}

// Mounts a tmpfs with these options in its own mount namespace, so that it needs no root and leaves nothing, and makes
// a scratch directory in it. Returns the errno; 0 on success, 250 when it cannot make a namespace.
int errno_in_tmpfs(const char* options, unsigned long flags) {
  const TestDir dir;
  const int status = test::wait_for(test::fork_child([&] {
    const bool root = ::geteuid() == 0;
    const std::string uid = std::to_string(::geteuid());
    const std::string gid = std::to_string(::getegid());
    if (::unshare(CLONE_NEWNS | (root ? 0 : CLONE_NEWUSER)) != 0) return 250;
    if (!root && !(put("/proc/self/setgroups", "deny") && put("/proc/self/uid_map", uid + " " + uid + " 1") &&
                   put("/proc/self/gid_map", gid + " " + gid + " 1"))) {
      return 250;
    }
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", dir.path().c_str(), "tmpfs", flags, options) != 0) {
      return 250;
    }
    const auto scratch = ScratchDir::create(dir.path());
    if (scratch) return 0;
    const auto* const system = scratch.error().as<SystemError>();
    return system == nullptr || scratch.error().hint.empty() ? 251 : system->error_number;
  }));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 252;
}

TEST(ScratchC16, AFullOrReadOnlyRootIsATypedErrorWithAHint) {
  const int control = errno_in_tmpfs("mode=700", 0);
  if (control == 250) GTEST_SKIP() << "no mount namespace can be made here";
  EXPECT_EQ(control, 0);
  EXPECT_EQ(errno_in_tmpfs("mode=700,nr_inodes=1", 0), ENOSPC);
  EXPECT_EQ(errno_in_tmpfs("mode=700", MS_RDONLY), EROFS);
}

TEST(ScratchC16, ARootOthersCanRenameInIsRefused) {
  const TestDir root;
  const auto open = root.directory("open", 0777);
  const auto refused = ScratchDir::create(open);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().as<InvalidRequest>(), nullptr);
  EXPECT_EQ(entries(open), 0);
  ::chmod(open.c_str(), 01777);
  EXPECT_TRUE(ScratchDir::create(open));  // positive control: sticky like /tmp
}

// A child that makes a scratch directory, fills it, and waits to be killed.
class Owner {
 public:
  explicit Owner(const std::filesystem::path& root) : ready_(make_pipe().value()) {
    pid_ = test::fork_child([&] {
      auto scratch = ScratchDir::create(root);
      const bool filled = scratch && ::mkdirat(scratch->fd(), "sub", 0) == 0;
      if (!filled || ::write(ready_.write_end.get(), "x", 1) != 1) return 1;
      for (;;) ::pause();
    });
    ready_.write_end.reset();
    char byte = 0;
    made_ = ::read(ready_.read_end.get(), &byte, 1) == 1;
  }
  ~Owner() { kill(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    test::wait_for(pid_);
    pid_ = 0;
  }
  [[nodiscard]] bool made() const { return made_; }

 private:
  Pipe ready_;
  pid_t pid_ = 0;
  bool made_ = false;
};

TEST(ScratchC16, ASweepRemovesTheDirectoryOfAKilledOwnerAndNeverALiveOne) {
  const TestDir root;
  const ScratchDir mine = ScratchDir::create(root.path()).value();
  Owner other(root.path());
  ASSERT_TRUE(other.made());
  EXPECT_EQ(sweep_stale_scratch(root.path()).value(), 0U);
  EXPECT_EQ(entries(root.path()), 2);
  other.kill();
  EXPECT_EQ(entries(root.path()), 2);  // positive control: only the sweep cleans up
  EXPECT_EQ(sweep_stale_scratch(root.path()).value(), 1U);
  EXPECT_EQ(entries(root.path()), 1);
  EXPECT_TRUE(std::filesystem::exists(mine.path()));
}

TEST(ScratchC16, ASweepLeavesLookAlikesAlone) {
  const TestDir root;
  const TestDir outside;
  outside.file("keep", "x");
  const std::string name = owned_dir_name();
  std::filesystem::create_directory_symlink(outside.path(), root / name);
  root.file(owned_dir_name(), "a file with that name");
  root.directory("sallyport-data");
  root.directory("sallyport-" + std::to_string(::geteuid()) + "-1-nothexadecimalxx");
  EXPECT_EQ(sweep_stale_scratch(root.path()).value(), 0U);
  EXPECT_EQ(entries(root.path()), 4);
  EXPECT_TRUE(std::filesystem::exists(outside / "keep"));
  root.directory(owned_dir_name());  // positive control: the same name as a directory of ours is swept
  EXPECT_EQ(sweep_stale_scratch(root.path()).value(), 1U);
}

TEST(ScratchC16, ASweepLeavesOtherUsersDirectoriesAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's directory";
  const TestDir root;
  const auto theirs = root.directory(owned_dir_name(), 0700);
  ASSERT_EQ(::chown(theirs.c_str(), 65534, 65534), 0);
  EXPECT_EQ(sweep_stale_scratch(root.path()).value(), 0U);
  EXPECT_TRUE(std::filesystem::exists(theirs));
}

TEST(ScratchC16, SweepersAndCreatorsInParallelNeverLoseALiveDirectory) {
  const TestDir root;
  std::atomic<bool> stop = false;
  std::atomic<int> lost = 0;
  {
    std::vector<std::jthread> sweepers;
    for (int i = 0; i < 2; ++i) {
      sweepers.emplace_back([&] {
        while (!stop) static_cast<void>(sweep_stale_scratch(root.path()).has_value());
      });
    }
    std::vector<std::jthread> creators;
    for (int i = 0; i < 2; ++i) {
      creators.emplace_back([&] {
        for (int n = 0; n < 500; ++n) {
          const auto scratch = ScratchDir::create(root.path());
          if (!scratch || !std::filesystem::exists(scratch->path())) ++lost;
        }
      });
    }
    creators.clear();
    stop = true;
  }
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(entries(root.path()), 0);
}

}  // namespace
}  // namespace sallyport
