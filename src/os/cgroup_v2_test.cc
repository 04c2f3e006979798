// The v2 rules, on a directory tree that looks like v2, so that they are tested on hosts with v1 controllers too.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/cgroup.h"
#include "os/cgroup_files.h"
#include "os/file.h"
#include "os/test_dir.h"
#include "support/forked.h"

namespace sallyport {
namespace {

using test::ask_as_plain_user;
using test::give_to_plain_user;

// user.slice (no delegation) / user (delegated, hands memory and pids down) / own (holds our process)
class CgroupV2Tree : public testing::Test {
 protected:
  void SetUp() override {
    group("user.slice", "memory pids cpu", "memory pids");
    group("user.slice/user", "memory pids", "memory pids");
    group("user.slice/user/own", "memory pids", "");
    // The kernel answers EBUSY to a group that has processes; in a plain tree, a read-only file comes closest.
    own_ = tree_ / "user.slice/user/own";
    layout_.v2 = own_;
    layout_.v2_mount = tree_.path();
  }
  void group(const std::string& name, const std::string& offered, const std::string& enabled) {
    tree_.directory(name);
    tree_.file(name + "/cgroup.controllers", offered + "\n");
    tree_.file(name + "/cgroup.subtree_control", enabled.empty() ? "" : enabled + "\n");
    tree_.file(name + "/memory.max", "max\n");
    tree_.file(name + "/pids.max", "max\n");
  }
  void forbid_enabling() {
    std::filesystem::remove(own_ / "cgroup.subtree_control");
    std::filesystem::create_symlink("cgroup.controllers", own_ / "cgroup.subtree_control");  // O_NOFOLLOW refuses it
  }

  TestDir tree_;
  std::filesystem::path own_;
  CgroupLayout layout_;
  const CgroupLimits limits_{.memory_bytes = 1000, .pids_max = 10};
};

TEST_F(CgroupV2Tree, OurOwnGroupIsUsedWhenItCanHandControllersDown) {
  EXPECT_EQ(choose_v2_parent(layout_, limits_).value(), own_);
  EXPECT_NE(read_whole_file(own_ / "cgroup.subtree_control", ByteCount{64})->find("+"), std::string::npos);
}

TEST_F(CgroupV2Tree, OtherwiseTheNearestAncestorThatDoes) {
  forbid_enabling();
  EXPECT_EQ(choose_v2_parent(layout_, limits_).value(), own_.parent_path());
  EXPECT_EQ(choose_v2_parent(layout_, {}).value(), own_);  // no controller wanted: no need to climb
}

TEST_F(CgroupV2Tree, NeverClimbsOutOfATighterLimit) {
  forbid_enabling();
  tree_.file("user.slice/user/own/memory.max", "999\n");
  const auto refused = choose_v2_parent(layout_, limits_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().as<GuaranteeUnavailable>()->guarantee, Guarantee::kLimitMemory);
  tree_.file("user.slice/user/own/memory.max", "1000\n");
  EXPECT_TRUE(choose_v2_parent(layout_, limits_));  // positive control: ours is no wider
  tree_.file("user.slice/user/own/memory.max", "1000000\n");
  EXPECT_FALSE(choose_v2_parent(layout_, {.pids_max = 10}));  // a run without a memory limit is wider
  tree_.file("user.slice/user/own/memory.max", "max\n");
  tree_.file("user.slice/user/own/pids.max", "9\n");
  EXPECT_FALSE(choose_v2_parent(layout_, limits_));
}

TEST_F(CgroupV2Tree, AMissingControllerIsNamedWithItsFile) {
  for (const char* name : {"user.slice", "user.slice/user", "user.slice/user/own"}) group(name, "pids cpu", "pids");
  const auto refused = choose_v2_parent(layout_, limits_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().as<GuaranteeUnavailable>()->guarantee, Guarantee::kLimitMemory);
  EXPECT_NE(refused.error().message.find("own/cgroup.controllers"), std::string::npos);
  EXPECT_FALSE(refused.error().hint.empty());
  EXPECT_TRUE(choose_v2_parent(layout_, {.pids_max = 10}));  // positive control
}

TEST_F(CgroupV2Tree, LimitsGoIntoTheRightFilesAndSwapIsNoWayOut) {
  tree_.file("user.slice/user/own/memory.swap.max", "max\n");
  const UniqueFd fd = open_path(own_, O_RDONLY | O_DIRECTORY).value();
  ASSERT_TRUE(set_memory_limit(fd.get(), CgroupVersion::kV2, 4096));
  ASSERT_TRUE(set_pids_limit(fd.get(), 17));
  EXPECT_EQ(read_control(fd.get(), "memory.max")->substr(0, 4), "4096");
  EXPECT_EQ(read_control(fd.get(), "memory.swap.max")->substr(0, 1), "0");
  EXPECT_EQ(read_control(fd.get(), "pids.max")->substr(0, 2), "17");
  EXPECT_EQ(read_socket_memory(fd.get(), CgroupVersion::kV2).value(), 0U);  // counted in memory.max with all else
  std::filesystem::remove(own_ / "memory.swap.max");
  EXPECT_TRUE(set_memory_limit(fd.get(), CgroupVersion::kV2, 4096));  // a kernel without swap
  std::filesystem::remove(own_ / "memory.max");
  EXPECT_FALSE(set_memory_limit(fd.get(), CgroupVersion::kV2, 4096));
  EXPECT_FALSE(std::filesystem::exists(own_ / "memory.max"));  // never created
}

// A directory that looks like a v1 one: the machine the tests run on may have either.
TEST_F(CgroupV2Tree, V1LimitsSocketBuffersApartAndRefusesWhereItCannot) {
  for (const char* file : {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control"}) {
    tree_.file(std::string("user.slice/user/own/") + file, "");
  }
  const UniqueFd fd = open_path(own_, O_RDONLY | O_DIRECTORY).value();
  EXPECT_FALSE(set_memory_limit(fd.get(), CgroupVersion::kV1, 4096)) << "socket buffers would be counted nowhere";
  tree_.file("user.slice/user/own/memory.kmem.tcp.limit_in_bytes", "");
  ASSERT_TRUE(set_memory_limit(fd.get(), CgroupVersion::kV1, 4096));
  EXPECT_EQ(read_control(fd.get(), "memory.limit_in_bytes").value(), "4096");
  EXPECT_EQ(read_control(fd.get(), "memory.kmem.tcp.limit_in_bytes").value(), "1024");
  EXPECT_FALSE(read_socket_memory(fd.get(), CgroupVersion::kV1));
  tree_.file("user.slice/user/own/memory.kmem.tcp.usage_in_bytes", "12288\n");
  EXPECT_EQ(read_socket_memory(fd.get(), CgroupVersion::kV1).value(), 12288U);
}

TEST_F(CgroupV2Tree, CountersAreReadFromTheLocalFileFirst) {
  tree_.file("user.slice/user/own/memory.events", "low 0\noom 9\noom_kill 9\noom_group_kill 0\n");
  const UniqueFd fd = open_path(own_, O_RDONLY | O_DIRECTORY).value();
  EXPECT_EQ(read_oom_kills(fd.get(), CgroupVersion::kV2).value(), 9U);
  tree_.file("user.slice/user/own/memory.events.local", "low 0\noom 3\noom_kill 2\noom_group_kill 7\n");
  EXPECT_EQ(read_oom_kills(fd.get(), CgroupVersion::kV2).value(), 2U);
  tree_.file("user.slice/user/own/cpu.stat", "usage_usec 1234\nuser_usec 1000\n");
  EXPECT_EQ(read_cpu_time(fd.get(), CgroupVersion::kV2)->count(), 1234);
  tree_.file("user.slice/user/own/memory.events.local", "nonsense\n");
  EXPECT_FALSE(read_oom_kills(fd.get(), CgroupVersion::kV2));
}

TEST_F(CgroupV2Tree, AWriteProtectedTreeIsATypedReasonNeverSilence) {
  forbid_enabling();
  ::chmod(tree_.path().c_str(), 0755);
  const auto delegated = tree_ / "user.slice/user";
  give_to_plain_user(delegated.c_str());
  ::chmod(delegated.c_str(), 0555);
  ::chmod((tree_ / "user.slice").c_str(), 0555);
  EXPECT_TRUE(ask_as_plain_user([&] {
    const auto refused = choose_v2_parent(layout_, limits_);
    return !refused && !refused.error().message.empty() && !refused.error().hint.empty();
  }));
  ::chmod((tree_ / "user.slice").c_str(), 0755);
  ::chmod(delegated.c_str(), 0755);
  EXPECT_TRUE(ask_as_plain_user([&] { return choose_v2_parent(layout_, limits_).has_value(); }));  // positive control
}

TEST(CgroupProbe, SaysWhyWhenThereIsNoControlGroupAtAll) {
  const TestDir dir;
  const CgroupSource none{.mountinfo = dir.file("mountinfo", ""), .self_cgroup = dir.file("cgroup", "")};
  const CgroupSupport support = probe_cgroups(none);
  EXPECT_FALSE(support.memory.available);
  EXPECT_FALSE(support.pids.available);
  EXPECT_NE(support.memory.reason.find("memory controller"), std::string::npos) << support.memory.reason;
  EXPECT_NE(support.pids.reason.find("pids controller"), std::string::npos) << support.pids.reason;
}

}  // namespace
}  // namespace sallyport
