#include "jobs/validate/npm_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "jobs/validate/integrity.h"
#include "jobs/validate/recognise.h"
#include "sallyport/digest.h"

namespace sallyport::jobs {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::string sha512(std::string_view bytes) {
  Sha512 hasher;
  hasher.update(bytes);
  return std::move(hasher).hex();
}

void write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string read(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

class CacheTest : public testing::Test {
 protected:
  CacheTest() {
    std::string name = (fs::temp_directory_path() / "npm-cache-XXXXXX").native();
    dir_ = ::mkdtemp(name.data());
    run_ = dir_ / "run";
    fs::create_directory(run_);
  }
  ~CacheTest() override { fs::remove_all(dir_); }

  [[nodiscard]] NpmCache store() const {
    Result<NpmCache> opened = NpmCache::open(dir_ / "store");
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return *std::move(opened);
  }
  [[nodiscard]] fs::path in(std::string_view where, const std::string& digest) const {
    return dir_ / where / "_cacache" / content_path(digest);
  }
  [[nodiscard]] Promotion promote(const NpmCache& cache, const std::string& digest,
                                  const SeededFiles& seeded = {}) const {
    const Result<SandboxedPath> root = SandboxedPath::open_root(run_);
    return cache.promote({&digest, 1}, seeded, [&](const fs::path& path) { return root->open_file(path); });
  }
  [[nodiscard]] bool nothing_unfinished() const { return fs::is_empty(dir_ / "store/unfinished"); }

  fs::path dir_;
  fs::path run_;
};

TEST_F(CacheTest, TakesWhatHashesToItsName) {
  const NpmCache cache = store();
  const std::string digest = sha512("tarball");
  write(in("run", digest), "tarball");
  const Promotion done = promote(cache, digest);
  EXPECT_EQ(done.added, 1U);
  EXPECT_EQ(done.problem, "");
  EXPECT_EQ(read(in("store", digest)), "tarball");
  EXPECT_TRUE(nothing_unfinished());
}

TEST_F(CacheTest, NeverTakesAPoisonedTarball) {
  const NpmCache cache = store();
  const std::string digest = sha512("tarball");
  write(in("run", digest), "tarbalL");
  const Promotion done = promote(cache, digest);
  EXPECT_EQ(done.added, 0U);
  EXPECT_THAT(done.rejected, ElementsAre(digest));
  EXPECT_FALSE(fs::exists(in("store", digest)));
  EXPECT_TRUE(nothing_unfinished());
}

TEST_F(CacheTest, TakesNothingThatNoLockFileNames) {
  const NpmCache cache = store();
  const std::string other = sha512("other");
  write(in("run", other), "other");
  EXPECT_EQ(promote(cache, sha512("tarball")).added, 0U);
  EXPECT_FALSE(fs::exists(in("store", other)));
}

TEST_F(CacheTest, FollowsNoSymlinkOfTheRun) {
  const NpmCache cache = store();
  const std::string digest = sha512("secret");
  write(dir_ / "outside", "secret");
  fs::create_directories(in("run", digest).parent_path());
  fs::create_symlink(dir_ / "outside", in("run", digest));
  EXPECT_EQ(promote(cache, digest).added, 0U);
  EXPECT_FALSE(fs::exists(in("store", digest)));
}

TEST_F(CacheTest, ShowsARunExactlyWhatItsLockFileNames) {
  const NpmCache cache = store();
  const std::string digest = sha512("tarball");
  const std::string other = sha512("somebody's secret project");
  write(in("store", digest), "tarball");
  write(in("store", other), "somebody's secret project");
  const Result<SeededFiles> seeded = cache.seed(std::vector<std::string>{digest, sha512("absent")}, run_);
  ASSERT_TRUE(seeded.has_value());
  EXPECT_EQ(seeded->size(), 1U);
  EXPECT_EQ(read(in("run", digest)), "tarball");
  EXPECT_FALSE(fs::exists(in("run", other)));
  // What was there before is not taken a second time.
  EXPECT_EQ(promote(cache, digest, *seeded).added, 0U);
}

TEST_F(CacheTest, ReplacesADamagedFileThatNpmHasFetchedAnew) {
  const NpmCache cache = store();
  const std::string digest = sha512("tarball");
  write(in("store", digest), "damaged");
  const Result<SeededFiles> seeded = cache.seed({&digest, 1}, run_);
  ASSERT_TRUE(seeded.has_value());
  write(in("run", digest), "tarball");  // another file by that name, as npm writes it
  EXPECT_EQ(promote(cache, digest, *seeded).added, 1U);
  EXPECT_EQ(read(in("store", digest)), "tarball");
}

TEST_F(CacheTest, RemovesWhatAKilledOneHasLeft) {
  static_cast<void>(store());
  write(dir_ / "store/unfinished/abc", "half a tarb");
  static_cast<void>(store());
  EXPECT_TRUE(nothing_unfinished());
}

TEST_F(CacheTest, IsRefusedWhereOthersCanWrite) {
  fs::create_directory(dir_ / "store");
  EXPECT_TRUE(NpmCache::open(dir_ / "store").has_value());
  ::chmod((dir_ / "store").c_str(), 0777);
  EXPECT_FALSE(NpmCache::open(dir_ / "store").has_value());
  fs::create_directory_symlink(dir_ / "run", dir_ / "link");
  EXPECT_FALSE(NpmCache::open(dir_ / "link").has_value());
}

class RecogniseTest : public CacheTest {
 protected:
  [[nodiscard]] std::string what() const {
    const Result<SandboxedPath> root = SandboxedPath::open_root(run_);
    const auto found = recognise(*root);
    if (const auto* project = std::get_if<NpmProject>(&found)) return "npm " + project->lock_path;
    if (const auto* other = std::get_if<NotNpm>(&found)) return other->why;
    return "unreadable";
  }
};

TEST_F(RecogniseTest, DistinguishesNpmFromPnpmYarnAndBun) {
  EXPECT_EQ(what(), "there is no package.json");
  write(run_ / "package.json", "{}");
  EXPECT_EQ(what(), "npm ");
  for (const char* lock : {"pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"}) {
    write(run_ / lock, "");
    EXPECT_THAT(what(), testing::HasSubstr(lock));
    fs::remove(run_ / lock);
  }
  write(run_ / "package.json", R"({"packageManager": "yarn@4.0.0"})");
  EXPECT_THAT(what(), testing::HasSubstr("yarn"));
  write(run_ / "yarn.lock", "");
  write(run_ / "package-lock.json", "{}");
  EXPECT_EQ(what(), "npm package-lock.json");
  write(run_ / "npm-shrinkwrap.json", "{}");
  EXPECT_EQ(what(), "npm npm-shrinkwrap.json");
}

TEST_F(RecogniseTest, ReadsNeitherSymlinksNorFifos) {
  write(dir_ / "outside.json", "{}");
  fs::create_symlink(dir_ / "outside.json", run_ / "package.json");
  EXPECT_EQ(what(), "unreadable");
  fs::remove(run_ / "package.json");
  ASSERT_EQ(::mkfifo((run_ / "package.json").c_str(), 0600), 0);
  EXPECT_EQ(what(), "unreadable");
  fs::remove(run_ / "package.json");
  write(run_ / "package.json", "{");
  EXPECT_EQ(what(), "unreadable");
  write(run_ / "package.json", "{}");
  EXPECT_EQ(what(), "npm ");
}

}  // namespace
}  // namespace sallyport::jobs
