// C27: the parent opens every file that it reads back strictly beneath a root, through no symlink.
#include "sallyport/sandboxed_path.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "os/file.h"
#include "os/test_dir.h"

namespace sallyport {
namespace {

constexpr ByteCount kCap{1024};

int errno_of(const Error& error) {
  const auto* const system = error.as<SystemError>();
  return system != nullptr ? system->error_number : 0;
}

class SandboxedPathC27 : public testing::Test {
 protected:
  void SetUp() override {
    outside_.file("secret", "the secret");
    root_.file("dir/file", "content");
    root_.file("file", "content");
  }
  [[nodiscard]] SandboxedPath sandbox() const { return SandboxedPath::open_root(root_.path()).value(); }
  [[nodiscard]] Error refused(const std::filesystem::path& relative) const {
    auto content = sandbox().read_file(relative, kCap);
    EXPECT_FALSE(content) << relative << " was read: " << content.value();
    return content ? Error{} : std::move(content).error();
  }

  TestDir outside_;
  TestDir root_;
};

TEST_F(SandboxedPathC27, ReadsARegularFileBeneathItsRoot) {
  EXPECT_EQ(sandbox().read_file("file", kCap).value(), "content");
  EXPECT_EQ(sandbox().read_file("dir/file", kCap).value(), "content");
  EXPECT_EQ(sandbox().read_file("./dir/./file", kCap).value(), "content");
  const UniqueFd fd = sandbox().open_file("file").value();
  EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(SandboxedPathC27, EverySymlinkIsEloop) {
  std::filesystem::create_symlink(outside_ / "secret", root_ / "to_file");
  std::filesystem::create_symlink(outside_.path(), root_ / "to_dir");
  std::filesystem::create_symlink("nowhere", root_ / "dangling");
  std::filesystem::create_symlink("file", root_ / "inside");
  std::filesystem::create_symlink("loop", root_ / "loop");
  EXPECT_EQ(read_whole_file(root_ / "to_file", kCap).value(), "the secret");  // positive control: a plain open follows
  for (const char* name : {"to_file", "to_dir/secret", "dangling", "inside", "loop"}) {
    EXPECT_EQ(errno_of(refused(name)), ELOOP) << name;
  }
}

TEST_F(SandboxedPathC27, DotDotAndAbsolutePathsAreExdev) {
  const std::string up = "../" + outside_.path().filename().native() + "/secret";
  EXPECT_EQ(read_whole_file(root_ / up, kCap).value(), "the secret");  // positive control
  EXPECT_EQ(errno_of(refused(up)), EXDEV);
  EXPECT_EQ(errno_of(refused("dir/../../" + outside_.path().filename().native() + "/secret")), EXDEV);
  EXPECT_EQ(errno_of(refused(outside_ / "secret")), EXDEV);
}

TEST_F(SandboxedPathC27, MagicLinksOfProcAreNotFollowed) {
  const SandboxedPath proc = SandboxedPath::open_root("/proc/self").value();
  const auto content = proc.read_file("root/etc/passwd", kCap);
  ASSERT_FALSE(content);
  EXPECT_EQ(errno_of(content.error()), ELOOP);
}

TEST_F(SandboxedPathC27, AMountCrossingIsExdev) {
  const SandboxedPath root = SandboxedPath::open_root("/").value();
  const auto content = root.read_file("proc/self/status", mebibytes(1));
  ASSERT_FALSE(content);
  EXPECT_EQ(errno_of(content.error()), EXDEV);
}

TEST_F(SandboxedPathC27, EmptyAndNulPathsAreInvalidRequests) {
  EXPECT_NE(refused("").as<InvalidRequest>(), nullptr);
  EXPECT_NE(refused(std::string("file\0hidden", 11)).as<InvalidRequest>(), nullptr);
  EXPECT_EQ(errno_of(refused("missing")), ENOENT);
}

TEST_F(SandboxedPathC27, AFifoIsRefusedWithoutBlocking) {
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0666), 0);
  const Error error = refused("fifo");  // a blocking open would hang here: there is no writer
  EXPECT_NE(error.as<InvalidRequest>(), nullptr);
  EXPECT_NE(error.message.find("FIFO"), std::string::npos);
}

TEST_F(SandboxedPathC27, AnUnixSocketIsRefused) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = (root_ / "socket").native();
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_NE(refused("socket").message.find("socket"), std::string::npos);
}

TEST_F(SandboxedPathC27, ADirectoryIsRefused) { EXPECT_NE(refused("dir").as<InvalidRequest>(), nullptr); }

TEST_F(SandboxedPathC27, ADeviceIsRefused) {
  // Root makes one; a plain user may not, and uses the host's own instead.
  const bool made = ::mknod((root_ / "zero").c_str(), S_IFCHR | 0666, makedev(1, 5)) == 0;
  const SandboxedPath where = made ? sandbox() : SandboxedPath::open_root("/dev").value();
  const auto content = where.read_file("zero", kCap);
  ASSERT_FALSE(content);
  EXPECT_NE(content.error().message.find("device"), std::string::npos);
}

TEST_F(SandboxedPathC27, ASparseTerabyteIsRefusedBySize) {
  const auto path = root_.file("sparse", "");
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 40), 0);
  const auto content = sandbox().read_file("sparse", mebibytes(64));
  ASSERT_FALSE(content);
  EXPECT_NE(content.error().as<InvalidRequest>(), nullptr);
  EXPECT_NE(content.error().message.find("1099511627776"), std::string::npos);
}

TEST_F(SandboxedPathC27, TheCapIsExact) {
  root_.file("exact", std::string(1024, 'x'));
  root_.file("over", std::string(1025, 'x'));
  EXPECT_EQ(sandbox().read_file("exact", kCap).value().size(), 1024U);
  EXPECT_NE(refused("over").as<InvalidRequest>(), nullptr);
}

TEST_F(SandboxedPathC27, AFileThatGrowsWhileItIsReadNeverGivesMoreThanTheCap) {
  const auto path = root_.file("growing", "");
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    const std::string chunk(64, 'x');
    while (!stop) {
      if (::ftruncate(fd.get(), 0) != 0) return;
      for (int i = 0; i < 64 && !stop; ++i) static_cast<void>(!write_all(fd.get(), chunk, "growing"));
    }
  });
  for (int i = 0; i < 5000; ++i) {
    const auto content = sandbox().read_file("growing", kCap);
    if (content) {
      EXPECT_LE(content->size(), count(kCap));
    }
  }
  stop = true;
}

TEST_F(SandboxedPathC27, ASymlinkSwappedInARaceNeverLeaksTheSecret) {
  std::filesystem::create_symlink(outside_ / "secret", root_ / "link");
  const std::string link = (root_ / "link").native();
  const std::string file = (root_ / "file").native();
  std::atomic<bool> stop = false;
  std::jthread swapper([&] {
    while (!stop) ::renameat2(AT_FDCWD, link.c_str(), AT_FDCWD, file.c_str(), RENAME_EXCHANGE);
  });
  const SandboxedPath root = sandbox();
  int leaked = 0;
  int read = 0;
  int refusals = 0;
  bool control = false;  // a plain open follows it
  for (int i = 0; i < 20000 || !control || read == 0 || refusals == 0; ++i) {
    const auto content = root.read_file("file", kCap);
    if (content && *content == "the secret") ++leaked;
    content ? ++read : ++refusals;
    const auto plain = read_whole_file(file, kCap);
    control = control || (plain && *plain == "the secret");
  }
  stop = true;
  EXPECT_EQ(leaked, 0);
}

}  // namespace
}  // namespace sallyport
