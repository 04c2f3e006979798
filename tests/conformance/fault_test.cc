// A set-up step that fails denies: no tool, no receipt (C26). Each step in turn; the control is a run without a fault.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "attack/world.h"
#include "conformance/surroundings.h"
#include "gate/host_gate.h"
#include "support/jails.h"

namespace sallyport::conformance {
namespace {

using spawn::wire::Stage;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

class SetUpFault : public testing::TestWithParam<int> {
 protected:
  // The tool writes into the repo: there is no other place where its effect could be seen from outside.
  Result<JailedSubprocessResult> run(Stage fault, JailKind jail, spawn::SupplyFor runs = spawn::SupplyFor::kManyRuns) {
    const fs::path tools = tools_.path();
    fs::copy_file(attack_program(), tools / attack::kProgramName, fs::copy_options::skip_existing);
    const std::unique_ptr<HostGate> engine_gate =
        HostGate::open(config_admitting(repo_.path(), {attack::kProgramName}, {tools, "/usr/bin", "/bin"}), runs)
            .value();
    HostGate& engine = *engine_gate;
    engine.fail_at_for_tests(fault);
    // Only a run in a workspace takes that step.
    std::unique_ptr<Workspace> workspace;
    if (fault == Stage::kOverlay) {
      workspace = Workspace::open({.repo = repo_.path(), .state_dir = state_.path() / "w"}).value();
    }
    Limits limits{.wall = 20s};
    if (geteuid() == 0 && jail != kGvisorJail) limits.pids = 64;  // gVisor's processes are none of the host's
    return engine.run({.argv = {std::string(attack::kProgramName), "write_readonly_repo", "appears=" + mark().native()},
                       .repo = repo_.path(),
                       .cwd = repo_.path(),
                       .repo_access = workspace == nullptr ? RepoAccess::kWritable : RepoAccess::kReadOnly,
                       .workspace = workspace.get(),
                       .allowed_hosts = {*parse_host_rule("host.test")},
                       .limits = limits},
                      jail, {});
  }
  void expect_denied_at(Stage stage, spawn::SupplyFor runs) {
    const Result<JailedSubprocessResult> result = run(stage, JailKind::kNative, runs);
    ASSERT_FALSE(result) << "the fault at '" << stage_name(stage) << "' went unnoticed";
    // Every step is taken in this run, so it is this very one that failed.
    const auto* failed = result.error().as<SetupFailed>();
    const bool at_exec = stage == Stage::kExec && result.error().as<ToolNotRunnable>() != nullptr;
    EXPECT_TRUE(at_exec || (failed != nullptr && failed->stage == stage)) << result.error().message;
    EXPECT_FALSE(fs::exists(mark())) << "the tool ran although its jail was not whole";
  }
  [[nodiscard]] fs::path mark() const { return repo_ / "mark"; }

 private:
  test::TempDir repo_;
  test::TempDir tools_;
  test::TempDir state_;
};

TEST_F(SetUpFault, IsAbsentAndTheToolRuns) {
  for (const JailKind jail : test::confining_jails()) {
    const Result<JailedSubprocessResult> result = run(Stage::kNone, jail);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(fs::remove(mark()));
  }
  const Result<JailedSubprocessResult> result = run(Stage::kNone, JailKind::kNative, spawn::SupplyFor::kOneRun);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(fs::remove(mark()));
}

TEST_P(SetUpFault, DeniesInTheNativeJail) {
  expect_denied_at(static_cast<Stage>(GetParam()), spawn::SupplyFor::kManyRuns);
}

TEST_P(SetUpFault, DeniesInTheJailOfAnOwnerOfOneRun) {
  expect_denied_at(static_cast<Stage>(GetParam()), spawn::SupplyFor::kOneRun);
}

INSTANTIATE_TEST_SUITE_P(AtStep, SetUpFault,
                         testing::Range(static_cast<int>(Stage::kClone), static_cast<int>(Stage::kCount)),
                         [](const auto& test) {
                           std::string name(stage_name(static_cast<Stage>(test.param)));
                           std::ranges::replace_if(name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

// Inside bwrap our own init takes the last steps.
TEST_F(SetUpFault, DeniesInsideBwrapToo) {
  for (const Stage stage :
       {Stage::kNetwork, Stage::kWorkingDirectory, Stage::kNoNewPrivs, Stage::kSpeculation, Stage::kLandlock,
        Stage::kCapabilities, Stage::kSeccomp, Stage::kInitLocks, Stage::kLimits, Stage::kExecIdentity, Stage::kExec}) {
    EXPECT_FALSE(run(stage, JailKind::kBwrap)) << stage_name(stage);
    EXPECT_FALSE(fs::exists(mark())) << stage_name(stage);
  }
}

// Inside an OCI runtime's container it enters a user namespace of its own before.
TEST_F(SetUpFault, DeniesInsideARuntimeToo) {
  for (const Stage stage : {Stage::kNetwork, Stage::kMakeDirectory, Stage::kSourceIdentity, Stage::kUserMap,
                            Stage::kParentAlive, Stage::kCgroup, Stage::kCgroupNamespace, Stage::kWorkingDirectory,
                            Stage::kNoNewPrivs, Stage::kSpeculation, Stage::kLandlock, Stage::kCapabilities,
                            Stage::kSeccomp, Stage::kInitLocks, Stage::kLimits, Stage::kExecIdentity, Stage::kExec}) {
    EXPECT_FALSE(run(stage, kOciJail)) << stage_name(stage);
    EXPECT_FALSE(fs::exists(mark())) << stage_name(stage);
  }
}

TEST_F(SetUpFault, DeniesInTheLandlockJailToo) {
  for (const Stage stage : {Stage::kNetwork, Stage::kParentAlive, Stage::kSession, Stage::kCgroup, Stage::kLimits,
                            Stage::kWorkingDirectory, Stage::kStdio, Stage::kNoNewPrivs, Stage::kSpeculation,
                            Stage::kLandlock, Stage::kCapabilities, Stage::kSeccomp, Stage::kExec}) {
    EXPECT_FALSE(run(stage, JailKind::kLandlock)) << stage_name(stage);
    EXPECT_FALSE(fs::exists(mark())) << stage_name(stage);
  }
}

// There our init also opens what carries the connections to the allowed host.
TEST_F(SetUpFault, DeniesInsideGvisorToo) {
  const Result<JailedSubprocessResult> control = run(Stage::kNone, kGvisorJail);
  ASSERT_TRUE(control) << control.error().message;
  EXPECT_TRUE(fs::remove(mark()));
  for (const Stage stage : {Stage::kNetwork, Stage::kMakeDirectory, Stage::kWorkingDirectory, Stage::kNoNewPrivs,
                            Stage::kCapabilities, Stage::kSeccomp, Stage::kInitLocks, Stage::kExec}) {
    EXPECT_FALSE(run(stage, kGvisorJail)) << stage_name(stage);
    EXPECT_FALSE(fs::exists(mark())) << stage_name(stage);
  }
}

}  // namespace
}  // namespace sallyport::conformance
