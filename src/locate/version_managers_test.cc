// Each layout is made as the manager makes it; what stands in for the real program would print nothing.
#include "locate/version_managers.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sallyport {
namespace {

namespace fs = std::filesystem;

class VersionManagers : public testing::Test {
 protected:
  VersionManagers() {
    std::string name = (fs::temp_directory_path() / "versions-XXXXXX").native();
    home_ = ::mkdtemp(name.data());
  }
  ~VersionManagers() override { fs::remove_all(home_); }
  VersionManagers(const VersionManagers&) = delete;
  VersionManagers& operator=(const VersionManagers&) = delete;

  void write(const fs::path& below, const std::string& text) const {
    fs::create_directories((home_ / below).parent_path());
    std::ofstream(home_ / below) << text;
  }
  [[nodiscard]] std::string behind(const fs::path& below) const {
    const auto found = behind_version_manager(home_ / below, below.filename().native());
    return found ? found->lexically_relative(home_).native() : "";
  }

  fs::path home_;
};

TEST_F(VersionManagers, PyenvIsFollowedToTheGlobalVersion) {
  write(".pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec python3\n");
  write(".pyenv/versions/3.11.4/bin/python3", "x");
  write(".pyenv/versions/3.12.1/bin/python3", "x");
  write(".pyenv/version", "system\n3.12.1\n3.11.4\n");
  EXPECT_EQ(behind(".pyenv/shims/python3"), ".pyenv/versions/3.12.1/bin/python3");
  write(".pyenv/version", "../../evil\n");
  EXPECT_EQ(behind(".pyenv/shims/python3"), "") << "a version is one name";
}

TEST_F(VersionManagers, AsdfIsFollowedToTheChosenVersion) {
  write(".asdf/shims/node",
        "#!/usr/bin/env bash\n# asdf-plugin: nodejs 18.0.0\n# asdf-plugin: nodejs 20.1.0\nexec asdf exec\n");
  write(".asdf/installs/nodejs/18.0.0/bin/node", "x");
  write(".asdf/installs/nodejs/20.1.0/bin/node", "x");
  write(".tool-versions", "python 3.11.4\nnodejs 18.0.0\n");
  EXPECT_EQ(behind(".asdf/shims/node"), ".asdf/installs/nodejs/18.0.0/bin/node");
  write(".tool-versions", "");
  EXPECT_EQ(behind(".asdf/shims/node"), ".asdf/installs/nodejs/20.1.0/bin/node");
}

TEST_F(VersionManagers, RustupIsFollowedToTheDefaultToolchain) {
  write(".cargo/bin/rustup", "x");
  fs::create_hard_link(home_ / ".cargo/bin/rustup", home_ / ".cargo/bin/cargo");
  fs::create_symlink("rustup", home_ / ".cargo/bin/rustc");
  write(".cargo/bin/ripgrep", "y");
  write(".rustup/settings.toml", "version = \"12\"\ndefault_toolchain = \"stable-x\"\n");
  write(".rustup/toolchains/stable-x/bin/cargo", "x");
  write(".rustup/toolchains/stable-x/bin/rustc", "x");
  EXPECT_EQ(behind(".cargo/bin/cargo"), ".rustup/toolchains/stable-x/bin/cargo");
  EXPECT_EQ(behind(".cargo/bin/rustc"), ".rustup/toolchains/stable-x/bin/rustc");
  EXPECT_EQ(behind(".cargo/bin/ripgrep"), "") << "a program that cargo installed is itself";
}

TEST_F(VersionManagers, VoltaIsFollowedToItsPlatform) {
  write(".volta/bin/volta-shim", "x");
  for (const char* name : {"node", "npm", "yarn"}) fs::create_symlink("volta-shim", home_ / ".volta/bin" / name);
  write(".volta/tools/user/platform.json", R"({"node":{"runtime":"20.1.0","npm":"10.0.0"},"yarn":null})");
  write(".volta/tools/image/node/20.1.0/bin/node", "x");
  write(".volta/tools/image/npm/10.0.0/bin/npm", "x");
  EXPECT_EQ(behind(".volta/bin/node"), ".volta/tools/image/node/20.1.0/bin/node");
  EXPECT_EQ(behind(".volta/bin/npm"), ".volta/tools/image/npm/10.0.0/bin/npm");
  EXPECT_EQ(behind(".volta/bin/yarn"), "");
}

TEST_F(VersionManagers, OtherProgramsAreThemselves) {
  write("bin/tool", "x");
  write("shims/tool", "x");
  EXPECT_EQ(behind("bin/tool"), "");
  EXPECT_EQ(behind("shims/tool"), "");
}

}  // namespace
}  // namespace sallyport
