#include "os/mountinfo.h"

#include <gtest/gtest.h>

namespace sallyport {
namespace {

constexpr std::string_view kTable =
    "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "22 21 0:21 / /proc rw shared:2 master:3 - proc proc rw\n"
    "40 21 254:0 /srv/theirs /mnt/a\\040name rw - ext4 /dev/vda rw\n"
    "41 21 254:0 /srv/theirs/sub /data/nested/sub rw - ext4 /dev/vda rw\n"
    "42 21 254:16 / /other rw - ext4 /dev/vdb rw\n"
    "no mount\n";

std::optional<SecondName> names_of(const char* outer, std::uint64_t outer_mount, const char* inner,
                                   std::uint64_t inner_mount) {
  const std::vector<MountRow> rows = parse_mountinfo(kTable);
  return second_name(places_below(rows, outer, outer_mount), places_below(rows, inner, inner_mount));
}

TEST(Mountinfo, ReadsEachRowWithItsEscapes) {
  const std::vector<MountRow> rows = parse_mountinfo(kTable);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[1].type, "proc");
  EXPECT_EQ(rows[2].id, 40U);
  EXPECT_EQ(rows[2].device, "254:0");
  EXPECT_EQ(rows[2].root, "/srv/theirs");
  EXPECT_EQ(rows[2].point, "/mnt/a name");
  EXPECT_EQ(rows[2].options, "rw");
}

TEST(SecondNames, ABindMountIsAnotherNameOfItsSource) {
  const auto found = names_of("/mnt/a name", 40, "/srv/theirs", 21);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->by_outer, "/mnt/a name");
  EXPECT_EQ(found->by_inner, "/srv/theirs");
}

TEST(SecondNames, APartOfItIsReachedBelowTheBind) {
  const auto found = names_of("/mnt/a name", 40, "/srv/theirs/src/deep", 21);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->by_outer, "/mnt/a name/src/deep");
}

TEST(SecondNames, ABindBelowADirectoryIsReachedFromThere) {
  const auto found = names_of("/srv/theirs", 21, "/data", 21);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->by_outer, "/srv/theirs/sub");
  EXPECT_EQ(found->by_inner, "/data/nested/sub");
}

TEST(SecondNames, OneNameIsNoSecondOne) {
  EXPECT_FALSE(names_of("/srv/theirs", 21, "/srv/theirs/src", 21));
  EXPECT_FALSE(names_of("/srv/theirs", 21, "/srv/theirs", 21));
  EXPECT_FALSE(names_of("/srv", 21, "/usr", 21));
  EXPECT_FALSE(names_of("/srv/theirs/src", 21, "/srv/theirs", 21));
}

TEST(SecondNames, AnotherFileSystemIsAnotherPlace) {
  EXPECT_FALSE(names_of("/other", 42, "/srv/theirs", 21));
  EXPECT_FALSE(names_of("/other", 42, "/data", 21));
}

TEST(SecondNames, APathOnAMountThatIsNotListedHasNoPlace) {
  EXPECT_FALSE(names_of("/mnt/a name", 99, "/srv/theirs", 21));
}

TEST(Mountinfo, KnowsTheMountOfARealPath) {
  const auto id = mount_of("/proc/self");
  ASSERT_TRUE(id);
  const auto rows = read_mountinfo();
  ASSERT_TRUE(rows);
  const std::vector<MountPlace> places = places_below(*rows, "/proc", mount_of("/proc"));
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(places[0].path, "/");
}

}  // namespace
}  // namespace sallyport
