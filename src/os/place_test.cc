// Recognises each place by its traces, in a directory that stands for its root.
#include "os/place.h"

#include <gtest/gtest.h>

#include "os/test_dir.h"

namespace sallyport {
namespace {

class PlaceTest : public testing::Test {
 protected:
  PlaceTest() {
    dir_.file("proc/self/status", "Name:\tx\nSeccomp:\t0\n");
    dir_.file("proc/version", "Linux version 6.1.0-13-amd64 (debian-kernel@lists.debian.org)\n");
    dir_.file("proc/sys/kernel/hostname", "build-7\n");
  }
  [[nodiscard]] Place place() const { return recognise_place(dir_.path()); }
  TestDir dir_;
};

TEST_F(PlaceTest, NothingSpecialIsAHost) { EXPECT_EQ(place(), Place::kHost); }

TEST_F(PlaceTest, ContainersAreKnownByTheirMarkers) {
  dir_.file("run/systemd/container", "lxc\n");
  EXPECT_EQ(place(), Place::kContainer);
  dir_.file("run/.containerenv", "engine=\"podman-4.3.1\"\n");
  EXPECT_EQ(place(), Place::kPodman);
  dir_.file(".dockerenv", "");
  EXPECT_EQ(place(), Place::kDocker);
  dir_.file("proc/version", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n");
  EXPECT_EQ(place(), Place::kGvisor) << "a container of docker's by runsc";
}

TEST_F(PlaceTest, AJailOfOursIsKnownByAllThreeOfItsMarks) {
  dir_.file("proc/sys/kernel/hostname", "sallyport\n");
  dir_.directory("tmp/probe");
  EXPECT_EQ(place(), Place::kHost) << "a host may have that name";
  dir_.file("proc/self/status", "Name:\tx\nSeccomp:\t2\n");
  EXPECT_EQ(place(), Place::kOwnJail);
}

TEST_F(PlaceTest, WithoutProcNothingElseIsAsked) {
  std::filesystem::remove_all(dir_ / "proc");
  dir_.file(".dockerenv", "");
  EXPECT_EQ(place(), Place::kNoProc);
}

TEST_F(PlaceTest, AChrootHasAnotherRootThanTheFirstProcess) {
  dir_.directory("proc/1/root");
  EXPECT_EQ(place(), Place::kChroot);
}

TEST(OwnProcesses, AreShownByAProcOfThisNamespaceOnly) {
  EXPECT_TRUE(shows_own_processes("/proc"));
  EXPECT_TRUE(check_own_processes_shown(JailKind::kLandlock));
  const TestDir other;
  EXPECT_FALSE(shows_own_processes(other.path())) << "nothing is mounted";
  std::filesystem::create_directory(other.path() / "1");
  std::filesystem::create_symlink("1", other.path() / "self");  // what a process sees in another pid namespace's /proc
  EXPECT_FALSE(shows_own_processes(other.path()));
}

TEST(MaskedProc, IsSeenInTheMountTable) {
  constexpr std::string_view kPlain =
      "22 28 0:21 / /proc rw,nosuid - proc proc rw\n30 22 0:27 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n";
  EXPECT_FALSE(has_masked_proc(kPlain));
  EXPECT_FALSE(has_masked_proc(""));
  EXPECT_FALSE(has_masked_proc("40 22 0:5 / /process rw - tmpfs tmpfs rw\n")) << "another directory";
  EXPECT_TRUE(has_masked_proc(std::string(kPlain) + "41 22 0:5 /null /proc/kcore rw,nosuid - tmpfs tmpfs rw\n"));
}

}  // namespace
}  // namespace sallyport
