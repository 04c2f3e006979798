#include "os/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "os/event_fd.h"
#include "os/memfd.h"
#include "os/pipe.h"
#include "os/test_dir.h"

namespace sallyport {
namespace {

bool is_cloexec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

TEST(File, ReadsAFileOfExactlyTheCapAndRefusesOneByteMore) {
  const TestDir dir;
  const auto path = dir.file("f", std::string(5000, 'x'));
  EXPECT_EQ(read_whole_file(path, ByteCount{5000}).value().size(), 5000U);
  const auto refused = read_whole_file(path, ByteCount{4999});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().as<InvalidRequest>(), nullptr);
  EXPECT_EQ(read_whole_file(dir.file("empty", ""), ByteCount{0}).value(), "");
}

TEST(File, ReadsProcFilesThatClaimToBeEmpty) {
  EXPECT_NE(read_whole_file("/proc/self/status", mebibytes(1)).value().find("Name:"), std::string::npos);
}

TEST(File, C35_AFifoOrDeviceInTheFilesPlaceIsRefusedAtOnce) {
  const TestDir dir;
  const std::filesystem::path fifo = dir / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::filesystem::path& path : {fifo, std::filesystem::path("/dev/zero"), dir.path()}) {
    EXPECT_FALSE(read_whole_file(path, mebibytes(1))) << path;  // the point is that it returns
  }
  const std::filesystem::path link = dir / "link";
  std::filesystem::create_symlink(dir.file("f", "text"), link);
  EXPECT_EQ(read_whole_file(link, mebibytes(1)).value(), "text");
}

TEST(File, AMissingFileIsASystemErrorWithItsErrno) {
  const auto missing = read_whole_file("/proc/self/absent", mebibytes(1));
  ASSERT_FALSE(missing);
  ASSERT_NE(missing.error().as<SystemError>(), nullptr);
  EXPECT_EQ(missing.error().as<SystemError>()->error_number, ENOENT);
}

TEST(File, EveryDescriptorIsBornCloseOnExec) {
  EXPECT_TRUE(is_cloexec(open_path("/", O_RDONLY).value().get()));
  const Pipe pipe = make_pipe().value();
  EXPECT_TRUE(is_cloexec(pipe.read_end.get()));
  EXPECT_TRUE(is_cloexec(pipe.write_end.get()));
  EXPECT_TRUE(is_cloexec(EventFd::create().value().fd()));
  EXPECT_TRUE(is_cloexec(sealed_memfd("x", "").value().get()));
}

TEST(File, AtomicReplaceGivesTheNewContentAndLeavesNoTemporary) {
  const TestDir dir;
  const auto path = dir.file("f", "old", 0644);
  ASSERT_TRUE(write_file_atomically(path, "new", 0600));
  EXPECT_EQ(read_whole_file(path, mebibytes(1)).value(), "new");
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(File, AFailedAtomicReplaceKeepsTheOldContentAndLeavesNoTemporary) {
  const TestDir dir;
  const auto path = dir.directory("taken");  // rename of a file over a directory fails
  EXPECT_FALSE(write_file_atomically(path, "new"));
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(File, AFullDiskIsASystemErrorWithAHint) {
  const auto full = open_path("/dev/full", O_WRONLY);
  ASSERT_TRUE(full);
  const Status written = write_all(full->get(), "x", "/dev/full");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().as<SystemError>()->error_number, ENOSPC);
  EXPECT_FALSE(written.error().hint.empty());
}

TEST(Pipe, GrowsOnRequestAndKeepsTheDefaultWhenRefused) {
  const Pipe grown = make_pipe({.capacity = 1 << 20}).value();
  EXPECT_GE(::fcntl(grown.read_end.get(), F_GETPIPE_SZ), 4096);
  const Pipe absurd = make_pipe({.capacity = std::size_t{1} << 31}).value();
  EXPECT_GE(::fcntl(absurd.read_end.get(), F_GETPIPE_SZ), 4096);
}

TEST(Memfd, ContentIsThereAndCannotBeChangedAnyMore) {
  const UniqueFd fd = sealed_memfd("x", "hello").value();
  EXPECT_EQ(read_all(fd.get(), ByteCount{16}, "memfd").value(), "hello");
  EXPECT_EQ(::pwrite(fd.get(), "j", 1, 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(::ftruncate(fd.get(), 0), 0);
  EXPECT_NE(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(::mmap(nullptr, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0), MAP_FAILED);
  EXPECT_NE(::mmap(nullptr, 5, PROT_READ, MAP_PRIVATE, fd.get(), 0), MAP_FAILED);  // positive control
}

TEST(Memfd, CannotBeExecuted) {
  struct stat info{};
  ASSERT_EQ(::fstat(sealed_memfd("x", "a").value().get(), &info), 0);
  EXPECT_EQ(info.st_mode & 0111U, 0U);
}

TEST(EventFd, CountsSignalsAndNeverBlocks) {
  const EventFd event = EventFd::create().value();
  EXPECT_EQ(event.drain(), 0U);
  event.signal();
  event.signal();
  EXPECT_EQ(event.drain(), 2U);
  EXPECT_EQ(event.drain(), 0U);
}

}  // namespace
}  // namespace sallyport
