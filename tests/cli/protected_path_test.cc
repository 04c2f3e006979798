// --ro beside something writable: what is protected stays so, or the call is refused.
#include <unistd.h>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

class CliProtected : public CliTest, public testing::WithParamInterface<std::string> {
 protected:
  CliProtected() {
    write_file(policy_, policy_admitting({"sh"}));
    fs::create_directory(repo_ / "kept");
    write_file(repo_ / "kept/file", "kept\n");
  }
  ProgramResult run(const Words& options, const std::string& script) const {
    Words args{"run", "--jail", GetParam(), "--policy", policy_.string()};
    args.insert(args.end(), options.begin(), options.end());
    args.insert(args.end(), {"--", "sh", "-c", script});
    return sallyport(args);
  }
  void expect_refused(const Words& options, const std::string& script) const {
    const ProgramResult result = run(options, script);
    EXPECT_EQ(result.exit_code, 125) << result.stdout_bytes;
    expect_error_with_hint(result);
  }
};

TEST_P(CliProtected, ASymlinkThatTheRunCouldReplaceIsRefused) {
  fs::create_directory_symlink("kept", repo_ / "link");
  fs::create_directory_symlink("../link", repo_ / "sub/second");
  for (const char* named : {"link", "link/file", "sub/second", "sub/../link"}) {
    expect_refused({"--writable-repo", "--ro", (repo_ / named).string()}, "rm link; mkdir link");
    EXPECT_TRUE(fs::is_symlink(repo_ / "link")) << named;
  }
  expect_refused({"--rw", repo_.string(), "--ro", (repo_ / "link").string()}, "rm link");
  // Control: in a place that is not writable, and by its own name.
  EXPECT_EQ(run({"--ro", (repo_ / "link").string()}, "cat link/file").stdout_bytes, "kept\n");
  EXPECT_EQ(run({"--writable-repo", "--ro", (repo_ / "kept").string()}, "rm -rf kept; cat kept/file").stdout_bytes,
            "kept\n");
}

TEST_P(CliProtected, ASecondNameOfAProtectedFileIsRefused) {
  const Words protect{"--writable-repo", "--ro", (repo_ / "kept/file").string()};
  EXPECT_EQ(run(protect, "echo x > kept/file; cat kept/file").stdout_bytes, "kept\n");  // control
  fs::create_hard_link(repo_ / "kept/file", repo_ / "second");
  expect_refused(protect, "echo x > second");
  EXPECT_EQ(read_file(repo_ / "kept/file"), "kept\n");
  // Where nothing is writable a second name opens nothing.
  EXPECT_EQ(run({"--ro", (repo_ / "kept/file").string()}, "cat kept/file").stdout_bytes, "kept\n");
}

TEST_P(CliProtected, ASecondNameBelowAProtectedDirectoryCostsTheGuarantee) {
  const Words protect{"--json", "--writable-repo", "--ro", (repo_ / "kept").string()};
  EXPECT_NE(run(protect, "true").stdout_bytes.find("fs.write_confined"), std::string::npos);  // control
  fs::create_hard_link(repo_ / "kept/file", repo_ / "second");
  const ProgramResult result = run(protect, "true");
  EXPECT_EQ(result.stdout_bytes.find("fs.write_confined"), std::string::npos) << result.stdout_bytes;
  EXPECT_NE(result.stdout_bytes.find("subproc.ro.unprotected"), std::string::npos) << result.stdout_bytes;
  expect_refused({"--writable-repo", "--ro", (repo_ / "kept").string(), "--require", "fs.write_confined"}, "true");
}

TEST_P(CliProtected, APathThatIsNotThereIsRefusedAndStaysAbsent) {
  expect_refused({"--writable-repo", "--ro", (repo_ / "absent").string()}, "mkdir absent");
  EXPECT_FALSE(fs::exists(repo_ / "absent"));
}

// The repo's author must not choose what else is shown or written.
TEST_P(CliProtected, ASymlinkOfTheReposThatLeadsOutIsRefused) {
  fs::create_directory(dir_ / "private");
  write_file(dir_ / "private/secret", "secret\n");
  fs::create_directory_symlink(dir_ / "private", repo_ / "build");
  for (const char* option : {"--rw", "--ro"}) {
    expect_refused({option, (repo_ / "build").string()}, "cat build/secret; echo x > build/secret");
  }
  EXPECT_EQ(read_file(dir_ / "private/secret"), "secret\n");
  // Control: named itself it is shown.
  EXPECT_EQ(run({"--ro", (dir_ / "private").string()}, "cat build/secret").stdout_bytes, "secret\n");
}

// A pin between two protected paths must not open the outer one.
TEST_P(CliProtected, WhatLiesBetweenTwoProtectedPathsStaysReadOnly) {
  fs::create_directories(repo_ / "kept/between/inner");
  run({"--writable-repo", "--ro", (repo_ / "kept").string(), "--ro", (repo_ / "kept/between/inner").string()},
      "echo x > kept/between/planted; echo y > open");
  EXPECT_FALSE(fs::exists(repo_ / "kept/between/planted"));
  EXPECT_TRUE(fs::exists(repo_ / "open"));  // control
}

INSTANTIATE_TEST_SUITE_P(, CliProtected, testing::Values("native", "bwrap"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace sallyport::test
