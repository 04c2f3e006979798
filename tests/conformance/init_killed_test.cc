// A jail whose first process is killed before it could report: the run is an error of its own, never an outcome
// invented from another process's wait status (C20).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "attack/evidence.h"
#include "conformance/surroundings.h"
#include "support/jails.h"
#include "support/processes.h"

namespace sallyport::conformance {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

pid_t parent_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  }
  return -1;
}

class InitKilled : public testing::TestWithParam<JailKind> {
 protected:
  InitKilled() { fs::copy_file(attack_program(), tools_ / attack::kProgramName); }

  // Of a tool that sleeps until it is killed, or for 30 s. `at_start` gets the pid of the jail's init, as the host sees it.
  Result<JailedSubprocessResult> run(const std::function<void(pid_t)>& at_start, Limits limits) {
    const std::string marker = test::unique_marker();
    Result<std::unique_ptr<Gate>> gate =
        Gate::open(config_admitting(repo_.path(), {attack::kProgramName}, {tools_.path(), "/usr/bin", "/bin"}));
    if (!gate) return fail(gate.error());
    std::jthread killer([&] {
      std::optional<pid_t> tool;
      for (int look = 0; look < 2000 && !tool; ++look) {
        std::this_thread::sleep_for(5ms);
        tool = tool_with(marker);
      }
      if (tool) at_start(parent_of(*tool));
    });
    return (*gate)->run({.argv = {std::string(attack::kProgramName), "ignored_sigterm", "marker=" + marker},
                         .repo = repo_.path(),
                         .cwd = repo_.path(),
                         .limits = limits},
                        GetParam(), {});
  }

 private:
  // The tool itself, not a wrapper or an init that also carries the words: its executable is the attack program.
  std::optional<pid_t> tool_with(const std::string& marker) const {
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::error_code gone;
      const fs::path exe = fs::read_symlink(entry.path() / "exe", gone);
      if (gone || exe.filename() != attack::kProgramName) continue;
      if (test::read_file(entry.path() / "cmdline").find(marker) != std::string::npos) return std::stoi(name);
    }
    return std::nullopt;
  }

  test::TempDir repo_;
  test::TempDir tools_;
};

TEST_P(InitKilled, IsAnErrorAndNoOutcome_C20) {
  pid_t killed = 0;
  const Result<JailedSubprocessResult> result = run(
      [&](pid_t init) {
        killed = init;
        ASSERT_GT(init, 1);
        EXPECT_EQ(::kill(init, SIGKILL), 0);
      },
      {.wall = 60s});
  ASSERT_GT(killed, 1) << "the tool was not seen";
  ASSERT_FALSE(result) << outcome_name(result->outcome);
  const auto* died = result.error().as<JailDied>();
  ASSERT_NE(died, nullptr) << result.error().message;
  EXPECT_EQ(died->jail.name(), GetParam().name());
}

// The control: with init left alone the gate's own kill is an outcome, as before.
TEST_P(InitKilled, LeftAloneTheDeadlineIsAnOutcome) {
  const Result<JailedSubprocessResult> result = run([](pid_t) {}, {.wall = 1s});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result->outcome)) << outcome_name(result->outcome);
}

// By the kernel, for processor time: what a tool once could bring about by prlimit(2) and a flood of SIGCHLD.
TEST_P(InitKilled, ByALimitIsAnErrorToo_C20) {
  pid_t limited = 0;
  const Result<JailedSubprocessResult> result = run(
      [&](pid_t init) {
        limited = init;
        ASSERT_GT(init, 1);
        const rlimit nothing{0, 0};
        ASSERT_EQ(::prlimit(init, RLIMIT_CPU, &nothing, nullptr), 0);
        // Each one wakes it, until the kernel counts a whole tick against it.
        while (::kill(init, SIGCHLD) == 0) {
        }
      },
      {.wall = 60s});
  ASSERT_GT(limited, 1) << "the tool was not seen";
  ASSERT_FALSE(result) << outcome_name(result->outcome);
  EXPECT_NE(result.error().as<JailDied>(), nullptr) << result.error().message;
}

INSTANTIATE_TEST_SUITE_P(, InitKilled, testing::ValuesIn(test::jails_with_a_root()),
                         [](const auto& test) { return std::string(test.param.name()); });

}  // namespace
}  // namespace sallyport::conformance
