// What comes out of `run`: live, byte for byte, and what happens when nobody reads it.
#include <signal.h>
#include <unistd.h>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

using CliOutput = CliTest;

// Until our child has ended, without reading what it writes.
bool ended_unread(const LeakCount& before) {
  for (int i = 0; i < 3000; ++i) {
    if (LeakCount::of_self().zombies > before.zombies) return true;
    usleep(10'000);
  }
  return false;
}

TEST_F(CliOutput, BothStreamsPassThroughByteForByte) {
  const ProgramResult result = run_helper({"print_hex", "00ff1b5d303b7807410a", "1b5b324a62"});
  EXPECT_EQ(result.stdout_bytes, std::string("\x00\xff\x1b]0;x\x07"
                                             "A\n",
                                             10));
  EXPECT_EQ(result.stderr_bytes, "\x1b[2Jb");
}

TEST_F(CliOutput, StreamsLiveAndWholeBeyondTheCap_C13) {
  const ProgramResult result = run_helper({"print_bytes", "300000"}, {"--max-output", "1K"});
  EXPECT_EQ(result.stdout_bytes.size(), 300000u);
  EXPECT_EQ(result.stderr_bytes, "");
  Program live = start_sallyport(helper_command({"sleep_forever"}));
  EXPECT_TRUE(live.wait_for_stdout("ready"));  // while the tool still runs
  live.send_signal(SIGTERM);
  EXPECT_EQ(live.wait().exit_code, 128 + SIGTERM);
}

TEST_F(CliOutput, OnATerminalOnlyTextAndColoursPass) {
  // title, clear screen, a question to the terminal, red text, clipboard
  const ProgramResult result = run_helper({"print_hex",
                                           "1b5d303b7807"
                                           "1b5b324a"
                                           "1b5b366e"
                                           "1b5b33316d7265641b5b306d"
                                           "1b5d35323b633b5907"},
                                          {}, {.stdout_kind = StdoutKind::kTerminal});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.stdout_bytes, "\x1b[31mred\x1b[0m");
}

TEST_F(CliOutput, AReaderWhoLeavesEndsTheRun) {
  const std::string marker = unique_marker();
  const ProgramResult result =
      run_helper({"print_bytes", "100000000000", "out", marker}, {}, {.stdout_kind = StdoutKind::kBrokenPipe});
  EXPECT_EQ(result.exit_code, 128 + SIGPIPE);
  EXPECT_EQ(result.stderr_bytes, "");
  EXPECT_TRUE(all_gone(marker));
}

TEST_F(CliOutput, AClosedOrFullStdoutIsAnErrorNotASilentLoss) {
  const std::string marker = unique_marker();
  for (const StdoutKind kind : {StdoutKind::kClosed, StdoutKind::kFullDevice}) {
    const ProgramResult run = run_helper({"print_bytes", "100000000000", "out", marker}, {}, {.stdout_kind = kind});
    EXPECT_EQ(run.exit_code, 125);
    EXPECT_TRUE(run.stderr_bytes.starts_with("sallyport: error: cannot write stdout: ")) << run.stderr_bytes;
    EXPECT_EQ(run_helper({"print_bytes", "10"}, {"--json"}, {.stdout_kind = kind}).exit_code, 125);
    EXPECT_EQ(sallyport({"--version"}, {.stdout_kind = kind}).exit_code, 125);
    EXPECT_EQ(run_helper({"exit_with", "5"}, {}, {.stdout_kind = kind}).exit_code, 5);  // nothing to say: no error
  }
  EXPECT_EQ(sallyport({"allowlist", "list"}, {.stdout_kind = StdoutKind::kBrokenPipe}).exit_code, 128 + SIGPIPE);
  EXPECT_TRUE(all_gone(marker));
}

TEST_F(CliOutput, AReaderWhoDoesNotReadHoldsBackNeitherTheDeadlineNorCtrlC_C9) {
  const std::string marker = unique_marker();
  const LeakCount before = LeakCount::of_self();
  Program timed = start_sallyport(helper_command({"print_bytes", "10000000", "out", marker}, {"--timeout", "500ms"}));
  ASSERT_TRUE(ended_unread(before));
  EXPECT_EQ(timed.wait().exit_code, 124);
  Program stopped = start_sallyport(helper_command({"print_bytes", "10000000", "out", marker}));
  ASSERT_TRUE(all_there(marker, 2));
  stopped.send_signal(SIGINT);
  ASSERT_TRUE(ended_unread(before));
  EXPECT_EQ(stopped.wait().exit_code, 130);
  EXPECT_TRUE(all_gone(marker));
}

TEST_F(CliOutput, OnlyVerboseShowsDebugEvents) {
  const ProgramResult quiet = sallyport({"run", "--", "git", "--version"});
  EXPECT_EQ(quiet.stderr_bytes, "") << quiet.stdout_bytes;
  const ProgramResult verbose = sallyport({"run", "--verbose", "--", "git", "--version"});
  EXPECT_TRUE(verbose.stderr_bytes.starts_with("sallyport: debug: subproc.")) << verbose.stderr_bytes;
}

}  // namespace
}  // namespace sallyport::test
