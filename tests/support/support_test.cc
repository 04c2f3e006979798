// The support library is what every deny test leans on: prove that it sees what is there.
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/installed.h"
#include "support/processes.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace sallyport::test {
namespace {

std::string helper(const char* name) { return (misbehave_dir() / name).string(); }

TEST(Support, ReportsExitCodeSignalAndBothStreams) {
  EXPECT_EQ(run_program({helper("exit_with"), "7"}).exit_code, 7);
  const ProgramResult killed = run_program({helper("die_by_signal"), "11"});
  EXPECT_EQ(killed.signal, 11);
  EXPECT_FALSE(killed.exit_code);
  const ProgramResult both = run_program({helper("print_hex"), "6f7574", "657272"});
  EXPECT_EQ(both.stdout_bytes, "out");
  EXPECT_EQ(both.stderr_bytes, "err");
}

TEST(Support, GivesExactlyTheEnvironmentCwdAndStdinAskedFor) {
  const TempDir dir;
  EXPECT_EQ(run_program({helper("print_env")}, {.environment = Environment{{"A", "b"}}}).stdout_bytes, "A=b\n");
  EXPECT_EQ(run_program({helper("print_cwd")}, {.cwd = dir.path()}).stdout_bytes, dir.path().string() + "\n");
  EXPECT_EQ(run_program({helper("print_stdin")}, {.stdin_bytes = "in"}).stdout_bytes, "in");
  EXPECT_EQ(run_program({helper("print_stdin")}).stdout_bytes, "");
}

TEST(Support, APlainUserIsReallyPlain) {
  const std::optional<PlainUser> user = as_plain_user();
  if (!user) {
    EXPECT_NE(geteuid(), 0u);  // we are the plain user
    return;
  }
  const TempDir theirs(user);
  const TempDir ours;
  EXPECT_EQ(run_program({helper("leave_mark"), (theirs / "mark").string()}, {.user = user}).exit_code, 0);
  EXPECT_EQ(run_program({helper("leave_mark"), (ours / "mark").string()}, {.user = user}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(ours / "mark"));
}

TEST(Support, FindsASurvivorThatLeftByDoubleForkAndSetsid) {
  const std::string marker = unique_marker();
  EXPECT_TRUE(find_processes(marker).empty());
  Program program = Program::start({helper("escape_daemon"), marker});
  ASSERT_TRUE(program.wait_for_stdout("escaped"));
  while (find_processes(marker).size() > 1) usleep(1000);  // the first process is on its way out
  EXPECT_TRUE(all_there(marker, 1));
  kill_all(marker);
  EXPECT_EQ(program.wait().exit_code, 0);
  EXPECT_TRUE(all_gone(marker));
}

TEST(Support, CountsDescriptorsChildrenZombiesAndFiles) {
  const TempDir dir;
  const LeakCount before = LeakCount::of_self(dir.path(), "a");
  {
    write_file(dir / "ab", "");
    write_file(dir / "b", "");
    const Program child = Program::start({helper("sleep_forever")});
    const LeakCount during = LeakCount::of_self(dir.path(), "a");
    EXPECT_EQ(during.children, before.children + 1);
    EXPECT_EQ(during.open_fds, before.open_fds + 2);
    EXPECT_EQ(during.entries, before.entries + 1);
    child.send_signal(9);
    while (LeakCount::of_self().zombies == before.zombies) usleep(1000);
  }
  std::filesystem::remove(dir / "ab");
  EXPECT_EQ(before, LeakCount::of_self(dir.path(), "a"));
}

TEST(Support, MakesARealRepository) {
  const TempDir dir;
  const std::string head = make_git_repo(dir / "repo");
  EXPECT_EQ(head.size(), 40u);
  EXPECT_TRUE(std::filesystem::is_directory(dir / "repo" / ".git"));
}

TEST(Support, ATerminalIsATerminal) {
  const ProgramResult result = run_program({helper("print_fds")}, {.stdout_kind = StdoutKind::kTerminal});
  EXPECT_NE(result.stdout_bytes.find("1 /dev/pts/"), std::string::npos) << result.stdout_bytes;
}

}  // namespace
}  // namespace sallyport::test
