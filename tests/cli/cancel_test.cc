// Ctrl-C and other stop signals: the whole tree dies, and the program exits with the signal's code.
#include <signal.h>
#include <unistd.h>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

using CliCancel = CliTest;

TEST_F(CliCancel, EachStopSignalKillsTheWholeTree_C10) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string marker = unique_marker();
    Program program = start_sallyport(helper_command({"sleep_tree", marker}));
    ASSERT_TRUE(program.wait_for_stdout("ready"));
    ASSERT_TRUE(all_there(marker, 4));  // the three of the tree, and the CLI with the marker among its arguments
    program.send_signal(number);
    const ProgramResult result = program.wait();
    EXPECT_EQ(result.exit_code, 128 + number) << result.stderr_bytes;
    EXPECT_TRUE(result.stderr_bytes.starts_with("sallyport: cancelled by SIG")) << result.stderr_bytes;
    EXPECT_TRUE(all_gone(marker));
  }
}

TEST_F(CliCancel, WithoutTheGateTheSameTreeSurvivesItsParent_Control) {
  const std::string marker = unique_marker();
  Program program = Program::start({(misbehave_dir() / "sleep_tree").string(), marker});
  ASSERT_TRUE(program.wait_for_stdout("ready"));
  program.send_signal(SIGKILL);
  while (find_processes(marker).size() > 2) usleep(1000);  // the parent is on its way out
  EXPECT_EQ(find_processes(marker).size(), 2u);
  kill_all(marker);
  EXPECT_TRUE(all_gone(marker));
}

TEST_F(CliCancel, AnEscapeByDoubleForkAndSetsidIsEndedWithTheRun_C9) {
  const std::string marker = unique_marker();
  const ProgramResult result = run_helper({"escape_daemon", marker}, {"--timeout", "20s"});
  EXPECT_TRUE(all_gone(marker));
  EXPECT_EQ(result.stdout_bytes, "escaped\n");
}

TEST_F(CliCancel, AnImpatientSecondCtrlCNeitherHangsNorLeavesAnything) {
  const std::string marker = unique_marker();
  Program program = start_sallyport(helper_command({"sleep_tree", marker}));
  ASSERT_TRUE(program.wait_for_stdout("ready"));
  for (int i = 0; i < 5; ++i) program.send_signal(SIGINT);
  EXPECT_EQ(program.wait().exit_code, 130);
  EXPECT_TRUE(all_gone(marker));
}

TEST_F(CliCancel, TheRecordSaysCancelled) {
  const std::string marker = unique_marker();
  Program program = start_sallyport(helper_command({"sleep_tree", marker}, {"--json"}));
  ASSERT_TRUE(all_there(marker, 4));
  program.send_signal(SIGTERM);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_EQ(record_of(result)["outcome"], "cancelled");
  EXPECT_TRUE(all_gone(marker));
}

}  // namespace
}  // namespace sallyport::test
