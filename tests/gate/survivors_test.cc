// Nothing survives: deadline, cancel, the gate's end, the owner's death, the helper's death.
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "gate/gate_fixture.h"
#include "gate/host_gate.h"
#include "support/jails.h"
#include "support/program.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;

class SurvivorTest : public EveryJailTest {};

TEST_F(SurvivorTest, positive_control_without_the_gate_the_daemon_and_the_deaf_tree_live_on) {
  const std::string marker = unique_marker();
  Program daemon = Program::start({(misbehave_dir() / "escape_daemon").string(), marker});
  EXPECT_TRUE(all_there(marker, 1));
  Program tree = Program::start({(misbehave_dir() / "sleep_tree").string(), marker});
  EXPECT_TRUE(all_there(marker, 4));
  tree.send_signal(SIGTERM);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(find_processes(marker).size(), 4U);
  kill_all(marker);
  EXPECT_TRUE(all_gone(marker));
}

TEST_P(SurvivorTest, C9_a_double_forked_daemon_that_holds_the_pipe_dies_when_the_tool_has_ended) {
  const std::unique_ptr<Gate> gate = open_gate();
  const std::string marker = unique_marker();
  const JailedSubprocessResult result = run(*gate, spec({"escape_daemon", marker}), GetParam());
  EXPECT_EQ(exit_code(result), 0);
  EXPECT_TRUE(find_processes(marker).empty());
}

TEST_P(SurvivorTest, C9_at_the_deadline_a_tree_that_ignores_sigterm_is_gone) {
  const std::unique_ptr<Gate> gate = open_gate();
  const std::string marker = unique_marker();
  JailedSubprocessSpec what = spec({"sleep_tree", marker});
  what.limits.wall = 400ms;
  const JailedSubprocessResult result = run(*gate, what, GetParam());
  ASSERT_TRUE(std::holds_alternative<TimedOut>(result.outcome));
  EXPECT_GE(std::get<TimedOut>(result.outcome).elapsed, 400ms);
  EXPECT_TRUE(find_processes(marker).empty());
}

TEST_P(SurvivorTest, C10_a_stop_token_cancels_and_kills) {
  const std::unique_ptr<Gate> gate = open_gate();
  const std::string marker = unique_marker();
  std::stop_source source;
  std::jthread stopper([&] {
    EXPECT_TRUE(all_there(marker, 3));
    source.request_stop();
  });
  const Result<JailedSubprocessResult> result = gate->run(spec({"sleep_tree", marker}), GetParam(), source.get_token());
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(std::holds_alternative<Cancelled>(result->outcome));
  EXPECT_TRUE(find_processes(marker).empty());
}

TEST_P(SurvivorTest, C10_a_sigkilled_owner_takes_the_tree_with_it) {
  const std::string marker = unique_marker();
  write_file(dir_ / "policy.toml", policy_admitting({"sleep_tree"}));
  const std::string jail = jail_name(testing::TestParamInfo<JailKind>(GetParam(), 0));
  Program owner =
      Program::start({sallyport_binary(), "run", "--jail", jail, "--policy", (dir_ / "policy.toml").string(), "--",
                      "sleep_tree", marker},
                     {.cwd = repo_, .environment = Environment{{"PATH", misbehave_dir().string() + ":/usr/bin"}}});
  ASSERT_TRUE(all_there(marker, 4)) << "the CLI itself and three of the tree";
  owner.send_signal(SIGKILL);
  EXPECT_TRUE(all_gone(marker));
}

TEST_P(SurvivorTest, a_killed_spawn_helper_is_a_typed_error_its_tree_dies_and_the_next_call_works) {
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(config()).value();
  HostGate& engine = *engine_gate;
  const std::string marker = unique_marker();
  ASSERT_TRUE(engine.run(spec({"exit_with", "0"}), GetParam(), {}).has_value());
  std::jthread killer([&] {
    EXPECT_TRUE(all_there(marker, 3));
    ::kill(engine.helper_pid_for_tests(), SIGKILL);
  });
  const Result<JailedSubprocessResult> broken = engine.run(spec({"sleep_tree", marker}), GetParam(), {});
  ASSERT_FALSE(broken.has_value());
  EXPECT_NE(broken.error().as<SystemError>(), nullptr);
  if (GetParam() != JailKind::kNone && GetParam() != JailKind::kLandlock) {
    EXPECT_TRUE(all_gone(marker));
  } else {
    // Without a pid namespace the kernel kills the tool alone; docs/threat-model.md says so.
    kill_all(marker);
  }
  EXPECT_TRUE(engine.run(spec({"exit_with", "0"}), GetParam(), {}).has_value());
}

// gVisor's processes are none of the host's, so the sandbox is what must be gone: its command line names the run's directory.
class GvisorTest : public GateTest {};

TEST_F(GvisorTest, a_killed_spawn_helper_takes_the_sandbox_with_it) {
  const std::unique_ptr<HostGate> engine = HostGate::open(config()).value();
  const std::string marker = "/tmp/sallyport-" + std::to_string(::geteuid()) + "-" + std::to_string(::getpid()) + "-";
  ASSERT_TRUE(engine->run(spec({"exit_with", "0"}), kGvisorJail, {}).has_value());
  EXPECT_TRUE(all_gone(marker));
  std::jthread killer([&] {
    EXPECT_TRUE(all_there(marker, 3)) << "the runtime, its sandbox, its file server";
    ::kill(engine->helper_pid_for_tests(), SIGKILL);
  });
  const Result<JailedSubprocessResult> broken = engine->run(spec({"sleep_forever"}), kGvisorJail, {});
  ASSERT_FALSE(broken.has_value());
  EXPECT_TRUE(all_gone(marker));
  EXPECT_TRUE(engine->run(spec({"exit_with", "0"}), kGvisorJail, {}).has_value());
}

INSTANTIATE_TEST_SUITE_P(gate, SurvivorTest, testing::ValuesIn(all_jails()), jail_name);

}  // namespace
}  // namespace sallyport::test
