// The table of exit codes in docs/cli.md, row by row, with the exact verdict in the JSON.
#include <signal.h>
#include <sys/stat.h>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

using CliExitCode = CliTest;

TEST_F(CliExitCode, IsTheToolsOwn_C11) {
  for (const int code : {0, 1, 3, 124, 125, 137, 255}) {
    const ProgramResult result = run_helper({"exit_with", std::to_string(code)});
    EXPECT_EQ(result.exit_code, code) << result.stderr_bytes;
    EXPECT_EQ(result.stderr_bytes, "");
  }
}

TEST_F(CliExitCode, AToolThatExits137IsStillCompleted_C20) {
  const nlohmann::json record = record_of(run_helper({"exit_with", "137"}, {"--json"}));
  EXPECT_EQ(record["outcome"], "completed");
  EXPECT_EQ(record["exit_code"], 137);
}

TEST_F(CliExitCode, Is128PlusTheSignalThatEndedTheTool) {
  for (const int number : {SIGKILL, SIGSEGV, SIGTERM, SIGPIPE}) {
    EXPECT_EQ(run_helper({"die_by_signal", std::to_string(number)}).exit_code, 128 + number);
    const nlohmann::json record = record_of(run_helper({"die_by_signal", std::to_string(number)}, {"--json"}));
    EXPECT_EQ(record["outcome"], "completed");
    EXPECT_EQ(record["signal"], number) << record;
  }
}

TEST_F(CliExitCode, Is124AfterTheTimeoutAndSaysSo_C9) {
  const std::string marker = unique_marker();
  const ProgramResult result = run_helper({"sleep_forever", marker}, {"--timeout", "300ms"});
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_NE(result.stderr_bytes.find("sallyport: timed out after "), std::string::npos) << result.stderr_bytes;
  EXPECT_NE(result.stderr_bytes.find("killed sleep_forever and everything it started\nhint: "), std::string::npos);
  EXPECT_TRUE(all_gone(marker));
  const ProgramResult json = run_helper({"sleep_forever", marker}, {"--timeout", "300ms", "--json"});
  EXPECT_EQ(json.exit_code, 124);
  EXPECT_EQ(record_of(json)["outcome"], "timed_out");
  EXPECT_EQ(json.stderr_bytes, "");
}

TEST_F(CliExitCode, Is125ForARefusal) {
  EXPECT_EQ(sallyport({"run", "--", "bash"}).exit_code, 125);
  EXPECT_EQ(sallyport({"run", "--nonsense", "--", "git"}).exit_code, 125);
  EXPECT_EQ(sallyport({"nonsense"}).exit_code, 125);
  EXPECT_EQ(sallyport({}).exit_code, 125);
}

TEST_F(CliExitCode, Is126WhenTheKernelCannotRunTheFile) {
  const std::filesystem::path bin = dir_ / "bin";
  std::filesystem::create_directories(bin);
  write_file(bin / "exit_with", "no program\n");
  chmod((bin / "exit_with").c_str(), 0755);
  environment_[0].second = bin.string();
  const ProgramResult result = run_helper({"exit_with", "0"});
  EXPECT_EQ(result.exit_code, 126) << result.stderr_bytes;
  expect_error_with_hint(result);
  EXPECT_EQ(record_of(run_helper({"exit_with"}, {"--json"}))["error"]["kind"], "tool_not_runnable");
}

TEST_F(CliExitCode, Is127WithTheInstallHintWhenTheToolIsMissing_C11) {
  const ProgramResult result = run_helper({"not_installed"});
  EXPECT_EQ(result.exit_code, 127);
  expect_error_with_hint(result);
  EXPECT_NE(result.stderr_bytes.find("build the tests"), std::string::npos) << result.stderr_bytes;
  EXPECT_EQ(record_of(run_helper({"not_installed"}, {"--json"}))["error"]["kind"], "tool_missing");
}

TEST_F(CliExitCode, Is137OnlyWhenTheKernelSaysOutOfMemory_C20) {
  const ProgramResult result = run_helper({"eat_memory", "400"}, {"--memory", "64M", "--json"});
  const nlohmann::json record = record_of(result);
  // Where no memory controller can be used the limit is an rlimit: malloc fails, and the tool's own code counts.
  const bool by_kernel = record.value("outcome", "") == "oom_killed";
  EXPECT_EQ(result.exit_code == 137, by_kernel) << record;
  EXPECT_NE(result.exit_code, 0) << record;
  EXPECT_EQ(run_helper({"eat_memory", "8"}, {"--memory", "64M"}).exit_code, 0);
}

}  // namespace
}  // namespace sallyport::test
