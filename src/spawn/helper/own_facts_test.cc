#include "spawn/helper/own_facts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "sallyport/unique_fd.h"

namespace sallyport::spawn::helper {
namespace {

std::uint64_t kills_in(std::string_view text, std::size_t piece) {
  OomKills kills;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    kills.add(text.data(), std::min(piece, text.size()));
  }
  return kills.count();
}

TEST(OomKills, AreReadFromEveryKernelsFileHoweverItIsSplit) {
  constexpr std::string_view kEvents = "low 0\nhigh 3\nmax 20\noom 2\noom_kill 17\noom_group_kill 9\n";
  constexpr std::string_view kControl = "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n";
  for (std::size_t piece = 1; piece <= kEvents.size(); ++piece) {
    EXPECT_EQ(kills_in(kEvents, piece), 17U) << piece;
    EXPECT_EQ(kills_in(kControl, piece), 4U) << piece;
  }
}

TEST(OomKills, AreNoneWhereNoLineHasThem) {
  EXPECT_EQ(kills_in("", 1), 0U);
  EXPECT_EQ(kills_in("oom 2\nnot_oom_kill 5\noom_kills 5\noom_kill\n", 3), 0U);
  EXPECT_EQ(kills_in("oom_kill 12x34\n", 4), 12U);
}

TEST(OomKills, AreReadFromTheBeginningOfAFileLargerThanOneRead) {
  const UniqueFd file(::memfd_create("vmstat", MFD_CLOEXEC));
  const std::string text = std::string(4090, 'x') + "\noom_kill 123\n" + std::string(9000, 'y') + "\n";
  ASSERT_EQ(::write(file.get(), text.data(), text.size()), std::ssize(text));
  EXPECT_EQ(read_oom_kills(file.get()), 123U);
  EXPECT_EQ(read_oom_kills(file.get()), 123U);
  EXPECT_EQ(read_oom_kills(-1), 0U);
}

TEST(FileSystemUse, IsThatOfTheFileSystemTheDescriptorIsOn) {
  const UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  FileSystemUse use;
  ASSERT_TRUE(measure_use(root.get(), use));
  EXPECT_GT(use.size, 0U);
  EXPECT_LE(use.bytes, use.size);
  EXPECT_FALSE(measure_use(-1, use));
}

}  // namespace
}  // namespace sallyport::spawn::helper
