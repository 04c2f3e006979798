// The closed table of jails' launchers: pinned here, governed like the set, and never a tool (C3, C4).
#include "core/policy/jail_launchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sallyport {
namespace {

TEST(JailLaunchers, AreThese_C3) {
  std::vector<std::string> names;
  for (const ToolEntry& entry : jail_launchers()) names.push_back(entry.name);
  EXPECT_THAT(names, testing::ElementsAre("runc", "runsc", "qemu-system-x86_64", "podman"));
}

TEST(JailLaunchers, AreGovernedAndWrappers_C3_C4) {
  for (const ToolEntry& entry : jail_launchers()) {
    EXPECT_TRUE(entry.decision_record.starts_with("ADR-")) << entry.name;
    EXPECT_FALSE(entry.reason.empty()) << entry.name;
    EXPECT_FALSE(entry.install_hint.empty()) << entry.name;
    EXPECT_EQ(entry.role, Role::kWrapper) << entry.name;
    EXPECT_EQ(find_jail_launcher(entry.name), &entry);
  }
  EXPECT_EQ(find_jail_launcher("git"), nullptr);
}

TEST(JailLaunchers, DockerAloneIsAToolAndALauncher_C4) {
  for (const std::string_view name : kAllowedBinaries) EXPECT_EQ(launches_jails_too(name), name == "docker") << name;
  EXPECT_TRUE(Allowlist::builtin().admit("docker"));
}

TEST(JailLaunchers, AreNoMembersOfTheSetAndNobodysTool_C2_C4) {
  for (const ToolEntry& entry : jail_launchers()) {
    EXPECT_EQ(std::ranges::count(kAllowedBinaries, entry.name), 0) << entry.name;
    EXPECT_FALSE(Allowlist::builtin().admit(entry.name)) << entry.name;
    ToolEntry as_tool = entry;
    as_tool.role = Role::kTool;
    EXPECT_FALSE(Allowlist::of({as_tool})) << entry.name;
    // The control: only the role was refused.
    EXPECT_TRUE(Allowlist::of({entry})) << entry.name;
  }
}

}  // namespace
}  // namespace sallyport
