#include "locate/hash_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include "core/bytes/sha256.h"
#include "locate/hash_cache_file.h"
#include "os/file.h"
#include "os/test_dir.h"

namespace sallyport {
namespace {

using std::chrono_literals::operator""s;

// Files made just now are old in the eyes of this clock.
std::chrono::nanoseconds later() { return std::chrono::system_clock::now().time_since_epoch() + 10s; }

std::string hash(HashCache& cache, const std::filesystem::path& path) {
  const UniqueFd fd = open_path(path, O_RDONLY).value();
  return cache.sha256_of(fd.get(), path.native()).value().sha256;
}

TEST(HashCache, ASecondLookDoesNotReadTheFileAgain) {
  const TestDir dir;
  const auto file = dir.file("tool", "content");
  HashCache cache({}, later);
  EXPECT_EQ(hash(cache, file), sha256_hex("content"));
  EXPECT_EQ(hash(cache, file), sha256_hex("content"));
  EXPECT_EQ(cache.files_read(), 1U);
}

TEST(HashCache, ChangingTouchingOrReplacingTheFileReadsItAgain) {
  const TestDir dir;
  const auto file = dir.file("tool", "content");
  HashCache cache({}, later);
  EXPECT_EQ(hash(cache, file), sha256_hex("content"));
  dir.file("tool", "CONTENT");  // same size, same inode
  EXPECT_EQ(hash(cache, file), sha256_hex("CONTENT"));
  const timespec old[2] = {{.tv_sec = 1000, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), old, 0), 0);
  EXPECT_EQ(hash(cache, file), sha256_hex("CONTENT"));
  EXPECT_EQ(cache.files_read(), 3U);
  std::filesystem::rename(dir.file("other", "another"), file);
  EXPECT_EQ(hash(cache, file), sha256_hex("another"));
  EXPECT_EQ(cache.files_read(), 4U);
}

TEST(HashCache, AFreshFileIsNotRemembered) {
  const TestDir dir;
  const auto file = dir.file("tool", "content");
  HashCache cache(dir / "cache");  // the real clock
  hash(cache, file);
  hash(cache, file);
  EXPECT_EQ(cache.files_read(), 2U);
  EXPECT_FALSE(std::filesystem::exists(dir / "cache"));
}

TEST(HashCache, AnotherProcessFindsTheHashOnDisk) {
  const TestDir dir;
  const auto file = dir.file("tool", "content");
  HashCache first(dir / ".cache/deep", later);
  hash(first, file);
  struct stat info{};
  ASSERT_EQ(::stat((dir / ".cache/deep").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat((dir / ".cache/deep" / kHashFileName).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  HashCache second(dir / ".cache/deep", later);
  EXPECT_EQ(hash(second, file), sha256_hex("content"));
  EXPECT_EQ(second.files_read(), 0U);
  HashCache elsewhere({}, later);  // positive control
  hash(elsewhere, file);
  EXPECT_EQ(elsewhere.files_read(), 1U);
}

TEST(HashCache, OnlyAHomesMissingCacheDirectoryIsMadeNeverAHome) {
  const TestDir dir;
  const auto file = dir.file("tool", "content");
  HashCache nowhere(dir / "nonexistent/.cache/sallyport", later);
  hash(nowhere, file);
  EXPECT_FALSE(std::filesystem::exists(dir / "nonexistent"));
  HashCache missing(dir / "nonexistent/sallyport", later);
  hash(missing, file);
  EXPECT_FALSE(std::filesystem::exists(dir / "nonexistent"));
  HashCache home(dir / ".cache/sallyport", later);  // positive control
  hash(home, file);
  EXPECT_TRUE(std::filesystem::exists(dir / ".cache/sallyport" / kHashFileName));
}

class PoisonedCache : public testing::Test {
 protected:
  void SetUp() override {
    file_ = dir_.file("tool", "content");
    ::mkdir((dir_ / "cache").c_str(), 0700);
    FileStamp stamp = stamp_of(open_path(file_, O_RDONLY).value().get(), "tool").value();
    poison_ = format_hashes({{stamp, std::string(64, '0')}});
    dir_.file("cache/hashes.v1", poison_, 0600);
  }
  std::string looked_up() {
    HashCache cache(dir_ / "cache", later);
    return hash(cache, file_);
  }
  TestDir dir_;
  std::filesystem::path file_;
  std::string poison_;
};

TEST_F(PoisonedCache, OurOwnFileIsBelieved) {  // positive control of the tests below
  EXPECT_EQ(looked_up(), std::string(64, '0'));
}

TEST_F(PoisonedCache, AFileOrDirectoryOthersCanWriteIsIgnored) {
  dir_.file("cache/hashes.v1", poison_, 0622);
  EXPECT_EQ(looked_up(), sha256_hex("content"));
  dir_.file("cache/hashes.v1", poison_, 0600);
  ::chmod((dir_ / "cache").c_str(), 0722);
  EXPECT_EQ(looked_up(), sha256_hex("content"));
}

TEST_F(PoisonedCache, InTheRepoOrWhereAToolMayWriteItIsNeitherReadNorWritten) {
  const std::filesystem::path root = std::filesystem::canonical(dir_.path());
  for (const std::filesystem::path& exposed : {root, root / "cache", root / "cache/hashes.v1"}) {
    HashCache cache(dir_ / "cache", later);
    cache.stay_out_of(root / "no-repo", std::array{exposed});
    EXPECT_EQ(hash(cache, file_), sha256_hex("content")) << exposed;
    EXPECT_EQ(read_whole_file(dir_ / "cache/hashes.v1", mebibytes(1)).value(), poison_) << exposed;
  }
  HashCache elsewhere(dir_ / "cache", later);  // positive control
  elsewhere.stay_out_of(root / "no-repo", std::array{root / "other"});
  EXPECT_EQ(hash(elsewhere, file_), std::string(64, '0'));
  elsewhere.distrust(std::array{root / "other"});
  EXPECT_TRUE(std::filesystem::exists(dir_ / "cache/hashes.v1"));
  elsewhere.distrust(std::array{root / "cache"});
  EXPECT_FALSE(std::filesystem::exists(dir_ / "cache/hashes.v1"));
}

TEST_F(PoisonedCache, AForeignFileIsIgnored) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown((dir_ / "cache/hashes.v1").c_str(), 65534, 65534), 0);
  EXPECT_EQ(looked_up(), sha256_hex("content"));
}

TEST_F(PoisonedCache, ASymlinkOrFifoInItsPlaceIsIgnored) {
  std::filesystem::rename(dir_ / "cache/hashes.v1", dir_ / "cache/other");
  std::filesystem::create_symlink("other", dir_ / "cache/hashes.v1");
  EXPECT_EQ(looked_up(), sha256_hex("content"));
  std::filesystem::remove(dir_ / "cache/hashes.v1");
  ASSERT_EQ(::mkfifo((dir_ / "cache/hashes.v1").c_str(), 0600), 0);
  EXPECT_EQ(looked_up(), sha256_hex("content"));
}

TEST_F(PoisonedCache, ACorruptFileIsIgnoredAndReplaced) {
  for (const std::string& text : {poison_ + "x", poison_ + "1 2 3\n", poison_.substr(0, poison_.size() - 1),
                                  std::string(1 << 20, 'x'), "-" + poison_}) {
    dir_.file("cache/hashes.v1", text, 0600);
    EXPECT_EQ(looked_up(), sha256_hex("content"));
  }
  EXPECT_EQ(parse_hashes(read_whole_file(dir_ / "cache/hashes.v1", mebibytes(1)).value()).size(), 1U);
}

TEST(HashCache, AnUnwritableCacheDirectoryIsNoError) {
  const TestDir dir;
  const auto file = dir.file("tool", "content");
  HashCache cache("/proc/nonexistent/cache", later);
  EXPECT_EQ(hash(cache, file), sha256_hex("content"));
}

TEST(HashCache, TheFileStaysBounded) {
  std::map<FileStamp, std::string> many;
  for (std::uint64_t i = 0; i < 2000; ++i)
    many[{.inode = i, .ctime_ns = static_cast<std::int64_t>(i)}] = sha256_hex("x");
  const auto kept = parse_hashes(format_hashes(many));
  EXPECT_EQ(kept.size(), kMostHashes);
  EXPECT_EQ(kept.begin()->first.inode, 2000 - kMostHashes);  // the newest
}

TEST(HashCache, WhatIsWrittenReadsBack) {
  EXPECT_TRUE(rc::check([](std::uint64_t device, std::uint64_t size, std::int64_t mtime, std::int64_t ctime) {
    const std::map<FileStamp, std::string> one{
        {{.device = device, .inode = 1, .size = size, .mtime_ns = mtime, .ctime_ns = ctime}, std::string(64, 'a')}};
    RC_ASSERT(parse_hashes(format_hashes(one)) == one);
  }));
}

TEST(HashCache, ManyThreadsAgree) {
  const TestDir dir;
  const auto file = dir.file("tool", std::string(1 << 16, 'x'));
  const std::string expected = sha256_hex(std::string(1 << 16, 'x'));
  HashCache cache(dir / "cache", later);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(hash(cache, file), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.files_read(), 8U);
}

}  // namespace
}  // namespace sallyport
