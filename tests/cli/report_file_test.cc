// Files that we write for the caller after untrusted code ran: a receipt, a report.
#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

class CliReportFile : public CliTest {
 protected:
  CliReportFile() {
    write_file(policy_, policy_admitting({"sh"}));
    fs::create_directory(repo_ / "out");
    fs::create_directory(victim());
  }
  [[nodiscard]] fs::path victim() const { return dir_.path() / "victim"; }
  [[nodiscard]] ProgramResult run(const fs::path& receipt, const std::string& script) const {
    return sallyport({"run", "--policy", policy_.string(), "--writable-repo", "--receipt", receipt.string(), "--", "sh",
                      "-c", script});
  }
};

TEST_F(CliReportFile, ADirectoryThatTheToolExchangedForASymlinkIsNotFollowed) {
  EXPECT_EQ(run("out/receipt", "true").exit_code, 0);  // control
  EXPECT_TRUE(fs::exists(repo_ / "out/receipt"));
  EXPECT_EQ(run("out/receipt", "mv out away; ln -s ../victim out").exit_code, 0);
  ASSERT_TRUE(fs::is_symlink(repo_ / "out")) << "the tool did not do its part";
  EXPECT_TRUE(fs::is_empty(victim()));
  // From then on the repo ships the symlink, and the call is refused.
  const ProgramResult refused = run("out/receipt", "touch ran");
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_FALSE(fs::exists(repo_ / "ran"));
  EXPECT_TRUE(fs::is_empty(victim()));
}

TEST_F(CliReportFile, AJobsReportIsNotWrittenThroughADirectorySymlinkOfTheRepos) {
  fs::create_directory_symlink(victim(), repo_ / "link");
  EXPECT_EQ(sallyport({"probe", "rg_curated", "--sarif", "out/r.sarif"}).exit_code, 0);  // control
  EXPECT_TRUE(fs::exists(repo_ / "out/r.sarif"));
  for (const char* option : {"--sarif", "--markdown", "--html"}) {
    EXPECT_EQ(sallyport({"probe", "rg_curated", option, "link/r"}).exit_code, 2);
    EXPECT_TRUE(fs::is_empty(victim())) << option;
  }
  EXPECT_EQ(sallyport({"lint", "--sarif", "link/r"}).exit_code, 2);
  EXPECT_TRUE(fs::is_empty(victim()));
}

// As root, replacing /dev/null by a file takes it from the whole host: here a symlink and a FIFO stand for it.
TEST_F(CliReportFile, WhatIsNoRegularFileIsRefusedBeforeTheToolRuns) {
  fs::create_symlink("/proc/self/fd/1", dir_.path() / "stdout");
  const ProgramResult result = run(dir_.path() / "stdout", "touch ran");
  EXPECT_EQ(result.exit_code, 125);
  expect_error_with_hint(result);
  EXPECT_TRUE(fs::is_symlink(dir_.path() / "stdout"));
  EXPECT_FALSE(fs::exists(repo_ / "ran"));
}

}  // namespace
}  // namespace sallyport::test
