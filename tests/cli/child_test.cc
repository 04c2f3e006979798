// What the tool finds: its stdin, environment, directory, descriptors and signals.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

using CliChild = CliTest;

TEST_F(CliChild, StdinIsTheNullDeviceUnlessAskedFor_C6) {
  const ProgramOptions with_input{.stdin_bytes = "typed"};
  EXPECT_EQ(run_helper({"print_stdin"}, {}, with_input).stdout_bytes, "");
  EXPECT_EQ(run_helper({"print_stdin"}, {"--stdin"}, with_input).stdout_bytes, "typed");
}

TEST_F(CliChild, TheEnvironmentIsFourVariablesAndTheExtras_C7) {
  const ProgramResult result = run_helper({"print_env"}, {"--env", "EXTRA=a=b"});
  const std::string expected =
      "EXTRA=a=b\nHOME=" + (dir_ / "home").string() + "\nLANG=C.UTF-8\nPATH=" + environment_[0].second + "\n";
  EXPECT_EQ(result.stdout_bytes, expected) << result.stderr_bytes;
}

TEST_F(CliChild, VariablesThatLoadCodeAreRefused_C7) {
  for (const char* extra : {"LD_PRELOAD=/x", "NODE_OPTIONS=x", "BASH_ENV=/x", "GCONV_PATH=/x"}) {
    const ProgramResult result = run_helper({"leave_mark", (repo_ / "mark").string()}, {"--env", extra});
    EXPECT_EQ(result.exit_code, 125) << extra;
    expect_error_with_hint(result);
    EXPECT_FALSE(std::filesystem::exists(repo_ / "mark"));
  }
}

TEST_F(CliChild, RunsInTheNamedDirectoryInsideTheRepo_C8) {
  EXPECT_EQ(run_helper({"print_cwd"}).stdout_bytes, repo_.string() + "\n");
  EXPECT_EQ(run_helper({"print_cwd"}, {"--cwd", "sub"}).stdout_bytes, (repo_ / "sub").string() + "\n");
  EXPECT_EQ(run_helper({"print_cwd"}, {}, {.cwd = repo_ / "sub"}).stdout_bytes, (repo_ / "sub").string() + "\n");
  EXPECT_EQ(run_helper({"print_cwd"}, {"--repo", repo_.string()}, {.cwd = "/"}).stdout_bytes, repo_.string() + "\n");
}

TEST_F(CliChild, ArgumentsArriveAsValuesNoShellSeesThem_C5) {
  const ProgramResult result = run_helper({"print_args", "a b", "", "$HOME", "`id`", "*", "x;y", "--json", "--"});
  EXPECT_EQ(result.stdout_bytes, "[a b]\n[]\n[$HOME]\n[`id`]\n[*]\n[x;y]\n[--json]\n[--]\n");
}

TEST_F(CliChild, HasThreeDescriptorsWhateverWeInherited) {
  const int leaked = open("/dev/null", O_RDONLY);  // no CLOEXEC on purpose
  ASSERT_GE(leaked, 0);
  const ProgramResult result = run_helper({"print_fds"});
  close(leaked);
  EXPECT_TRUE(result.stdout_bytes.starts_with("0 /dev/null\n1 ")) << result.stdout_bytes;
  EXPECT_EQ(std::ranges::count(result.stdout_bytes, '\n'), 3) << result.stdout_bytes;
}

TEST_F(CliChild, IsBornWithNoSignalBlockedOrIgnored) {
  unsigned long long blocked = 1;
  unsigned long long ignored = 1;
  const ProgramResult result = run_helper({"print_signals"});
  ASSERT_EQ(sscanf(result.stdout_bytes.c_str(), "SigBlk: %llx SigIgn: %llx", &blocked, &ignored), 2);
  // 32 and 33 are glibc's own: it lets no program change them, so they are as the test's parent left them.
  const unsigned long long reserved = 3ULL << 31;
  EXPECT_EQ(blocked & ~reserved, 0u) << result.stdout_bytes;
  EXPECT_EQ(ignored & ~reserved, 0u) << result.stdout_bytes;
}

}  // namespace
}  // namespace sallyport::test
