// run_external_cli: its one set of options, what it refuses, what it gives back, and what it does where no jail works.
#include <gmock/gmock.h>

#include "gate/gate_fixture.h"
#include "gate/host_gate.h"
#include "sallyport/audit.h"
#include "sallyport/external_cli.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

ExternalCliOptions probe_in(const fs::path& cwd) { return {.cwd = cwd, .timeout = 60s}; }

TEST_F(GateTest, C12_a_bad_probe_name_is_refused_before_anything_else) {
  const std::unique_ptr<Gate> gate = open_gate();
  for (const std::string& name : {std::string(), std::string("A"), std::string("1a"), std::string("a-b"),
                                  std::string(65, 'a'), std::string("a\n")}) {
    const Result<ProcessResult> result = run_external_cli(*gate, name, {"rm", "-rf"}, {});
    ASSERT_FALSE(result.has_value());
    EXPECT_NE(result.error().as<InvalidProbeName>(), nullptr) << name;
  }
  EXPECT_TRUE(run_external_cli(*gate, std::string(64, 'a'), {"exit_with", "0"}, probe_in(repo_)).has_value());
}

TEST_F(GateTest, C14_C18_run_external_cli_is_wrapped_and_says_so) {
  const std::unique_ptr<Gate> gate = open_gate();
  const Result<ProcessResult> result = run_external_cli(*gate, "my_probe", {"print_cwd"}, probe_in(repo_));
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->receipt.has(Guarantee::kNetIsolated));
  EXPECT_TRUE(result->receipt.has(Guarantee::kFsWriteConfined));
  EXPECT_EQ(events_.named("subproc.jail.wrapped"),
            std::vector<std::string>{"subproc.jail.wrapped probe_name=my_probe egress=false"});
}

TEST_F(GateTest, C14_C33_run_external_cli_gives_back_the_scratch_and_the_records_name) {
  const std::unique_ptr<AuditSink> log = open_audit_log({.directory = dir_ / "log"}).value();
  GateConfig recorded = config();
  recorded.audit = log.get();
  const std::unique_ptr<Gate> gate = Gate::open(std::move(recorded)).value();
  const Result<ProcessResult> result = run_external_cli(*gate, "p", {"leave_mark", "/tmp/probe/mark"}, probe_in(repo_));
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_FALSE(result->audit_run.empty());
  EXPECT_TRUE(result->denials.empty());
  ASSERT_TRUE(result->scratch);
  EXPECT_TRUE(result->scratch->open_file("probe/mark").has_value());
  EXPECT_FALSE(result->scratch->open_file("probe/another").has_value());
}

TEST_F(GateTest, run_external_cli_has_one_set_of_options_and_two_ways_to_say_how_it_ended) {
  const std::unique_ptr<Gate> gate = open_gate();
  ExternalCliOptions options = probe_in(repo_);
  options.timeout = 300ms;
  const Result<ProcessResult> narrow = run_external_cli(*gate, "p", {"sleep_forever"}, options);
  ASSERT_FALSE(narrow.has_value());
  EXPECT_NE(narrow.error().as<ProbeTimeoutError>(), nullptr) << narrow.error().message;
  EXPECT_TRUE(narrow.error().tool_may_have_started);
  const Result<JailedSubprocessResult> whole = run_external_cli_whole(*gate, "p", {"sleep_forever"}, options);
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  EXPECT_TRUE(std::holds_alternative<TimedOut>(whole->outcome));
}

TEST_F(GateTest, run_external_cli_limits_memory_when_asked_to) {
  const std::unique_ptr<Gate> gate = open_gate();
  ExternalCliOptions options = probe_in(repo_);
  const auto limited = [&] {
    const Result<ProcessResult> result = run_external_cli(*gate, "p", {"exit_with", "0"}, options);
    return result.has_value() && result->receipt.has(Guarantee::kLimitMemory);
  };
  EXPECT_FALSE(limited());
  options.memory = mebibytes(256);
  EXPECT_TRUE(limited());
}

TEST_F(GateTest, C17_without_a_full_jail_run_external_cli_degrades_and_says_so_unless_guarantees_are_required) {
  GateConfig without_bwrap = config();
  without_bwrap.search_path = {misbehave_dir()};
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(std::move(without_bwrap)).value();
  HostGate& engine = *engine_gate;
  engine.fail_at_for_tests(spawn::wire::Stage::kClone);
  for (int i = 0; i < 2; ++i) {
    const Result<ProcessResult> result = run_external_cli(engine, "p", {"exit_with", "3"}, probe_in(repo_));
    ASSERT_TRUE(result.has_value());
    // What is left is landlock where the kernel has it, else nothing.
    const bool confined = result->receipt.jail == JailKind::kLandlock;
    EXPECT_TRUE(confined || result->receipt.jail == JailKind::kNone) << result->receipt.jail.name();
    EXPECT_EQ(result->receipt.has(Guarantee::kNetIsolated), confined);
    EXPECT_EQ(events_.named("subproc.bwrap.skipped").size(), confined ? 0U : 1U);
  }
  ExternalCliOptions strict = probe_in(repo_);
  strict.required = {Guarantee::kProcPidIsolated};  // neither gives it
  EXPECT_FALSE(run_external_cli(engine, "p", {"leave_mark", (repo_ / "mark").string()}, strict).has_value());
  EXPECT_FALSE(fs::exists(repo_ / "mark"));
}

}  // namespace
}  // namespace sallyport::test
