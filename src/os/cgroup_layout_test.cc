#include "os/cgroup_layout.h"

#include <gtest/gtest.h>

namespace sallyport {
namespace {

TEST(CgroupLayout, FindsEachV1HierarchyAtItsOwnPath) {
  const CgroupLayout layout = parse_cgroup_layout(
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 master:1 - cgroup cgroup rw,memory\n"
      "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
      "8:pids:/\n4:memory:/jobs/37db\n3:cpu,cpuacct:/x\n0::/\n");
  EXPECT_EQ(layout.v1_memory, "/sys/fs/cgroup/memory/jobs/37db");
  EXPECT_EQ(layout.v1_pids, "/sys/fs/cgroup/pids");
  EXPECT_EQ(layout.v1_cpuacct, "/sys/fs/cgroup/cpu,cpuacct/x");
  EXPECT_EQ(layout.v2, "/sys/fs/cgroup/unified");
}

TEST(CgroupLayout, FindsASystemdUserSessionInTheUnifiedTree) {
  const CgroupLayout layout =
      parse_cgroup_layout("25 20 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
                          "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope\n");
  EXPECT_EQ(layout.v2, "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope");
  EXPECT_EQ(layout.v2_mount, "/sys/fs/cgroup");
  EXPECT_FALSE(layout.v1_memory);
}

TEST(CgroupLayout, TakesTheMountRootOffAndSeesNothingOutsideIt) {
  const std::string mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  EXPECT_EQ(parse_cgroup_layout(mounts, "4:memory:/docker/abc/x\n").v1_memory, "/sys/fs/cgroup/memory/x");
  EXPECT_EQ(parse_cgroup_layout(mounts, "4:memory:/docker/abc\n").v1_memory, "/sys/fs/cgroup/memory");
  EXPECT_FALSE(parse_cgroup_layout(mounts, "4:memory:/docker/abcdef\n").v1_memory);
  EXPECT_FALSE(parse_cgroup_layout(mounts, "4:memory:/docker/abc/../../x\n").v1_memory);
}

TEST(CgroupLayout, UnescapesMountPointsAndSurvivesNonsense) {
  EXPECT_EQ(parse_cgroup_layout("1 2 0:3 / /a\\040b rw - cgroup2 none rw\n", "0::/\n").v2, "/a b");
  for (const char* text :
       {"", "\n\n", "1 2 3", "1 2 0:3 / /x rw - cgroup2", "- - - - - - - cgroup cgroup memory", "\\"}) {
    EXPECT_FALSE(parse_cgroup_layout(text, text).v2);
    EXPECT_FALSE(parse_cgroup_layout(text, "4:memory:/\n").v1_memory);
  }
}

}  // namespace
}  // namespace sallyport
