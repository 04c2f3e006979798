// The jail of a CLI run is the CLI's own child (ADR 0014): when there must be none, and that it never outlives its call.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <random>
#include <sstream>
#include <thread>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

class CliOneRun : public CliTest {
 protected:
  [[nodiscard]] Words with_policy(const Words& tool) const {
    Words args{"run", "--policy", policy_.string(), "--"};
    args.insert(args.end(), tool.begin(), tool.end());
    return args;
  }
};

// A sanitized program does not run under strace.
#ifndef SALLYPORT_SANITIZED

class CliOneRunTraced : public CliOneRun {
 protected:
  struct Traced {
    ProgramResult result;
    std::vector<std::string> calls;  // of the program and all it started, in their order: "execve", "clone3" …
  };

  [[nodiscard]] Traced trace(const Words& args, const ProgramOptions& how = {}) const {
    const std::string file = dir_ / "trace";
    Words argv{"/usr/bin/strace", "-f", "-qq", "-o", file, "-e", "trace=clone,clone3,fork,vfork,execve"};
    argv.emplace_back(sallyport_binary());
    argv.insert(argv.end(), args.begin(), args.end());
    ProgramOptions options = how;
    options.cwd = repo_;
    options.environment = environment_;
    Traced traced{.result = run_program(argv, options), .calls = {}};
    std::istringstream lines(read_file(file));
    for (std::string pid, call; lines >> pid && std::getline(lines >> std::ws, call);) {
      if (call.find('(') != std::string::npos) traced.calls.push_back(call.substr(0, call.find('(')));
    }
    return traced;
  }
  [[nodiscard]] static bool starts_a_process(const Traced& traced) {
    return std::ranges::any_of(traced.calls, [](const std::string& call) { return call != "execve"; });
  }
};

TEST_F(CliOneRunTraced, NoProcessIsStartedForAToolOfNoSet_C2) {
  write_file(policy_, "# name = \"exit_with\"\n" + policy_admitting({"print_cwd"}));
  for (const Words& args : {Words{"run", "bash"}, Words{"run", "bwrap"}, Words{"run", "--", "/usr/bin/git"},
                            Words{"run", "--jail", "native", "--", "gitt"}, with_policy({"exit_with", "0"})}) {
    const Traced traced = trace(args);
    EXPECT_EQ(traced.result.exit_code, 125);
    EXPECT_NE(traced.result.stderr_bytes.find("refused tool"), std::string::npos) << traced.result.stderr_bytes;
    EXPECT_FALSE(starts_a_process(traced)) << testing::PrintToString(args);
    EXPECT_FALSE(traced.calls.empty()) << "the control: strace saw the program";
  }
}

TEST_F(CliOneRunTraced, NoProcessIsStartedForALineThatIsWrongOrOnlyExplained) {
  EXPECT_FALSE(starts_a_process(trace({"run", "--bogus", "git", "--version"})));
  EXPECT_FALSE(starts_a_process(trace({"run", "--timeout", "0s", "git", "--version"})));
  EXPECT_FALSE(starts_a_process(trace({"explain", "git", "--version"})));
  EXPECT_TRUE(starts_a_process(trace({"run", "git", "--version"}))) << "the control";
}

TEST_F(CliOneRunTraced, ADescriptorOfItsOwnDoesNotBecomeAStandardStream) {
  const Traced traced = trace(with_policy({"exit_with", "7"}), {.stdout_kind = StdoutKind::kClosed});
  EXPECT_EQ(traced.result.exit_code, 7) << traced.result.stderr_bytes;
}

#endif

// What goes wrong after the jail was started: bad values, a directory that is not there, a tool that is not installed.
TEST_F(CliOneRun, EndsBeforeACallThatIsRefusedLater) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  for (const Words& args : {Words{"run", "--timeout", "0s", "git"}, Words{"run", "--cwd", "nowhere", "git"},
                            Words{"run", "--require", "x", "git"}, with_policy({"not_installed"})}) {
    EXPECT_EQ(sallyport(args).exit_code, args.back() == "not_installed" ? 127 : 125);
    EXPECT_EQ(children_of(getpid()), std::vector<pid_t>()) << testing::PrintToString(args);
  }
}

TEST_F(CliOneRun, DiesWithAProgramThatIsKilledAtAnyMoment_C10) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  using Clock = std::chrono::steady_clock;
  using std::chrono::microseconds;
  const Clock::time_point start = Clock::now();
  ASSERT_EQ(sallyport(with_policy({"exit_with", "0"})).exit_code, 0);
  const auto whole = std::chrono::duration_cast<microseconds>(Clock::now() - start);
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_int_distribution<microseconds::rep> moments(0, whole.count());
  int orphans = 0;
  for (int moment = 0; moment < 100; ++moment) {
    Program program = start_sallyport(with_policy({"sleep_forever"}));
    std::this_thread::sleep_for(microseconds(moments(random)));
    program.send_signal(SIGKILL);
    ASSERT_EQ(program.wait().signal, SIGKILL);
    // The jail is our child now. Each wait returns only when it is dead.
    while (waitpid(-1, nullptr, 0) > 0) ++orphans;
  }
  EXPECT_GT(orphans, 10) << "the control: many moments had a jail";
}

}  // namespace
}  // namespace sallyport::test
