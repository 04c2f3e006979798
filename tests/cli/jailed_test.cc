// The program with a jail of its own: the jail's init is its child, with no helper between (ADR 0014).
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

class CliJailed : public CliTest, public testing::WithParamInterface<bool> {
 protected:
  CliJailed() : user_(GetParam() ? as_plain_user() : std::nullopt), mine_(user_) {
    for (const char* name : {"sleep_tree", "escape_daemon", "exit_with", "die_by_signal", "print_signals"}) {
      fs::copy_file(misbehave_dir() / name, mine_ / name);
    }
    fs::create_directory(mine_ / "repo");
    give_to(mine_ / "repo", user_);
    write_file(policy_,
               policy_admitting({"sleep_tree", "escape_daemon", "exit_with", "die_by_signal", "print_signals", "cat"}));
    fs::permissions(dir_.path(), fs::perms(0755));
    environment_ = {{"PATH", mine_.path().string() + ":/usr/bin:/bin"}, {"HOME", mine_.path().string()}};
  }

  [[nodiscard]] Words command(const Words& tool, const Words& options = {}) const {
    Words args{"run", "--jail", "native", "--policy", policy_.string()};
    args.insert(args.end(), options.begin(), options.end());
    args.emplace_back("--");
    args.insert(args.end(), tool.begin(), tool.end());
    return args;
  }
  [[nodiscard]] ProgramOptions as_user() const { return {.cwd = mine_ / "repo", .user = user_}; }
  [[nodiscard]] ProgramResult run(const Words& tool, const Words& options = {}) const {
    return sallyport(command(tool, options), as_user());
  }
  [[nodiscard]] Program start_tree(const std::string& marker) const {
    Program program = start_sallyport(command({"sleep_tree", marker}), as_user());
    EXPECT_TRUE(program.wait_for_stdout("ready"));
    EXPECT_TRUE(all_there(marker, 4));  // the three of the tree, and the CLI
    return program;
  }

  std::optional<PlainUser> user_;
  TempDir mine_;
};

TEST_P(CliJailed, TheToolsOwnEndIsReported_C11) {
  EXPECT_EQ(run({"exit_with", "7"}).exit_code, 7);
  const ProgramResult killed = run({"die_by_signal", std::to_string(SIGSEGV)});
  EXPECT_EQ(killed.exit_code, 128 + SIGSEGV) << killed.stderr_bytes;
}

TEST_P(CliJailed, TheToolIsBornWithNoSignalBlockedOrIgnored) {
  // The program itself ignores SIGPIPE.
  const ProgramResult result = run({"print_signals"});
  EXPECT_EQ(result.stdout_bytes, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n") << result.stderr_bytes;
}

TEST_P(CliJailed, EachStopSignalKillsTheWholeTree_C10) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string marker = unique_marker();
    Program program = start_tree(marker);
    program.send_signal(number);
    const ProgramResult result = program.wait();
    EXPECT_EQ(find_processes(marker), std::vector<pid_t>()) << "it left before its tool was dead";
    EXPECT_EQ(result.exit_code, 128 + number) << result.stderr_bytes;
  }
}

TEST_P(CliJailed, TheDeadlineEndsAToolThatIgnoresSigterm_C9) {
  const std::string marker = unique_marker();
  const ProgramResult result = run({"sleep_tree", marker}, {"--timeout", "300ms"});
  EXPECT_EQ(find_processes(marker), std::vector<pid_t>()) << "it left before its tool was dead";
  EXPECT_EQ(result.stdout_bytes, "ready\n");
  EXPECT_EQ(result.exit_code, 124) << result.stderr_bytes;
}

// If we inherited an ignored SIGCHLD, the kernel would reap the jail's init before we can learn how it ended.
TEST_P(CliJailed, ACallerWhoIgnoresItsChildrenGetsTheSameAnswer_C9) {
  const auto ignoring = [&](const Words& argv) {
    Words wrapped{"/usr/bin/env", "--ignore-signal=CHLD"};
    wrapped.insert(wrapped.end(), argv.begin(), argv.end());
    ProgramOptions options = as_user();
    options.environment = environment_;
    return run_program(wrapped, options);
  };
  // The tests' parent may ignore more signals than this one.
  unsigned long long ignored = 0;
  const ProgramResult control = ignoring({"/usr/bin/grep", "^SigIgn:", "/proc/self/status"});
  ASSERT_EQ(sscanf(control.stdout_bytes.c_str(), "SigIgn: %llx", &ignored), 1) << control.stdout_bytes;
  EXPECT_NE(ignored & 1ULL << (SIGCHLD - 1), 0u) << "the control: it is inherited\n" << control.stdout_bytes;
  const std::string marker = unique_marker();
  Words cli = command({"sleep_tree", marker}, {"--timeout", "300ms"});
  cli.insert(cli.begin(), sallyport_binary());
  const ProgramResult result = ignoring(cli);
  EXPECT_EQ(find_processes(marker), std::vector<pid_t>()) << "it left before its tool was dead";
  EXPECT_EQ(result.exit_code, 124) << result.stderr_bytes;
}

// The CLI does not wait until the jail is torn down, but always for its last process.
TEST_P(CliJailed, WhatTheToolLeftBehindIsDeadWhenItReturns_C9) {
  for (int i = 0; i < 20; ++i) {
    const std::string marker = unique_marker();
    const ProgramResult result = run({"escape_daemon", marker});
    EXPECT_EQ(find_processes(marker), std::vector<pid_t>());
    EXPECT_EQ(result.stdout_bytes, "escaped\n");
    EXPECT_EQ(result.exit_code, 0) << result.stderr_bytes;
  }
}

TEST_P(CliJailed, ItsOwnDeathIsTheJails_C10) {
  const std::string marker = unique_marker();
  Program program = start_tree(marker);
  program.send_signal(SIGKILL);
  EXPECT_EQ(program.wait().signal, SIGKILL);
  EXPECT_TRUE(all_gone(marker));
}

TEST_P(CliJailed, AJailWhoseInitIsKilledIsTheEndOfTheRun) {
  const std::string marker = unique_marker();
  Program program = start_tree(marker);
  const std::vector<pid_t> children = children_of(program.pid());
  ASSERT_EQ(children.size(), 1u) << "the jail's init alone";
  EXPECT_EQ(read_file("/proc/" + std::to_string(children.front()) + "/comm"), "sallyport-spawn\n");
  ASSERT_EQ(kill(children.front(), SIGKILL), 0);
  const ProgramResult result = program.wait();
  EXPECT_EQ(find_processes(marker), std::vector<pid_t>()) << "it left before its tool was dead";
  EXPECT_EQ(result.exit_code, 125) << "how the tool ended is not known\n" << result.stderr_bytes;
  EXPECT_NE(result.stderr_bytes.find("lost jail"), std::string::npos) << result.stderr_bytes;
}

TEST_P(CliJailed, NeitherTheInitNorTheToolHasACapability) {
  const ProgramResult result = run({"cat", "/proc/1/status", "/proc/self/status"});
  const auto count = [&](std::string_view line) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = result.stdout_bytes.find(line, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("CapEff:\t0000000000000000\n"), 2u) << result.stdout_bytes << result.stderr_bytes;
  EXPECT_EQ(count("CapPrm:\t0000000000000000\n"), 2u) << result.stdout_bytes;
  EXPECT_EQ(count("Seccomp:\t2\n"), 2u) << result.stdout_bytes;
  EXPECT_EQ(count("CapBnd:\t0000000000000000\n"), 2u) << result.stdout_bytes;
}

INSTANTIATE_TEST_SUITE_P(AsWeAreAndAsAPlainUser, CliJailed, testing::Bool());

// A plain user may not drop a group, since it can also be there to deny; root's would open files.
TEST_F(CliTest, ARootCallersExtraGroupsDoNotReachTheTool) {
  if (geteuid() != 0) GTEST_SKIP() << "only root has groups to drop";
  write_file(policy_, policy_admitting({"cat"}));
  const Words status{"cat", "/proc/self/status"};
  const Words cli{sallyport_binary(), "run", "--jail", "native",           "--policy",
                  policy_.string(),   "--",  "cat",    "/proc/self/status"};
  const auto with_group = [&](const Words& argv) {
    Words wrapped{"/usr/bin/setpriv", "--groups", "4242"};
    wrapped.insert(wrapped.end(), argv.begin(), argv.end());
    return run_program(wrapped, {.cwd = repo_, .environment = environment_}).stdout_bytes;
  };
  EXPECT_NE(with_group(status).find("\nGroups:\t4242 \n"), std::string::npos) << "the control";
  EXPECT_NE(with_group(cli).find("\nGroups:\t \n"), std::string::npos) << with_group(cli);
}

}  // namespace
}  // namespace sallyport::test
