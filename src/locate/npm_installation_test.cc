#include "locate/npm_installation.h"

#include <gtest/gtest.h>

#include "os/test_dir.h"

namespace sallyport {
namespace {

class NpmInstallation : public testing::Test {
 protected:
  [[nodiscard]] hardening::NpmLayout read(const std::filesystem::path& script) const {
    PinnedTool tool;
    tool.binary.path = script.native();
    tool.interpreters = {{.path = "/opt/node/bin/node"}};
    return read_npm_layout(tool);
  }

  TestDir dir_;
};

TEST_F(NpmInstallation, IsReadFromTheFilesBesideTheScript) {
  dir_.file("npm/package.json", R"({"name":"npm","config":{"version":"1.2.3"},"version":"11.19.1"})");
  const hardening::NpmLayout layout = read(dir_.file("npm/bin/npm-cli.js", ""));
  EXPECT_EQ(layout.version, (hardening::NpmVersion{11, 19}));
  EXPECT_EQ(layout.root, (dir_ / "npm").native());
  EXPECT_EQ(layout.prefix, "/opt/node");
  EXPECT_EQ(layout.global_config, "/opt/node/etc/npmrc");
}

TEST_F(NpmInstallation, FollowsTheConfigurationADistributionBuildsIn) {
  dir_.file("npm/package.json", R"({"version":"9.2.0"})");
  dir_.file("npm/npmrc", "# comment\nglobalconfig=/etc/npmrc\n\n prefix = /usr/local \nprefixes=/x\n");
  const hardening::NpmLayout layout = read(dir_.file("npm/bin/npm-cli.js", ""));
  EXPECT_EQ(layout.version, (hardening::NpmVersion{9, 2}));
  EXPECT_EQ(layout.prefix, "/usr/local");
  EXPECT_EQ(layout.global_config, "/etc/npmrc");
}

TEST_F(NpmInstallation, LeavesTheVersionOpenWhenItCannotBeRead) {
  const std::filesystem::path script = dir_.file("npm/bin/npm-cli.js", "");
  EXPECT_EQ(read(script).version, std::nullopt);
  for (const char* text : {"", "[]", "{\"version\":11}", "{\"version\":\"eleven\"}", "{\"version\":\"11\"}", "{"}) {
    dir_.file("npm/package.json", text);
    EXPECT_EQ(read(script).version, std::nullopt) << text;
  }
  EXPECT_EQ(read("/elsewhere/npm").root, "");
}

}  // namespace
}  // namespace sallyport
