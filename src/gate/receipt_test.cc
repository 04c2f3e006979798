// The receipt of a run comes from what the run reported, not from what its jail had announced (C26).
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/test_dir.h"
#include "sallyport/gate.h"
#include "sallyport/jail_port.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr Established kAlways{Guarantee::kLimitWall, Mechanism::kSupervisor};
constexpr Established kOfLandlock{Guarantee::kFsReadonlySystem, Mechanism::kMountsAndLandlock};
constexpr Established kOfRedirectedPorts{Guarantee::kNetEgressAllowlist, Mechanism::kNetworkNamespaceAndNftables};
constexpr Established kOfCarriedConnections{Guarantee::kNetIsolated, Mechanism::kConnectionsCarried};

// Starts with these facts, and ends by itself at once.
class ReportingRun final : public LiveRun {
 public:
  explicit ReportingRun(RunFacts facts) : event_(::eventfd(2, EFD_CLOEXEC | EFD_SEMAPHORE)), facts_(facts) {}
  [[nodiscard]] int event_fd() const override { return event_.get(); }
  [[nodiscard]] Result<RunReport> next() override {
    eventfd_t one = 0;
    ::eventfd_read(event_.get(), &one);
    if (!std::exchange(started_, true)) return RunReport(ToolStarted{.facts = facts_});
    return RunReport(ToolEnded{.wait_status = 0, .is_last = true});
  }
  void stop(StopStep) override {}

 private:
  UniqueFd event_;
  const RunFacts facts_;
  bool started_ = false;
};

// Announces everything, and establishes what each fact allows.
class ReportingStage final : public StagedRun {
 public:
  explicit ReportingStage(RunFacts facts) : facts_(facts) {}
  [[nodiscard]] std::vector<Established> would_establish() const override {
    return {kAlways, kOfLandlock, kOfRedirectedPorts, kOfCarriedConnections};
  }
  [[nodiscard]] std::vector<Established> established(const RunFacts& facts) const override {
    std::vector<Established> given = {kAlways};
    if (facts.landlocked) given.push_back(kOfLandlock);
    if (facts.ports_redirected) given.push_back(kOfRedirectedPorts);
    if (facts.connections_carried) given.push_back(kOfCarriedConnections);
    return given;
  }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams&) override {
    return std::make_unique<ReportingRun>(facts_);
  }

 private:
  const RunFacts facts_;
};

class ReportingJail final : public Jail {
 public:
  [[nodiscard]] std::string_view name() const override { return "reporting"; }
  [[nodiscard]] Result<std::shared_ptr<const Executable>> resolve(const Plan& plan, CallHost&) override {
    const ImageFile file{.image = "tests", .digest = "sha256:70f5", .path = "/tools/" + plan.tool.name};
    return std::make_shared<const Executable>(Executable{.identity = file, .argv0 = plan.tool.name});
  }
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest&) override {
    return std::make_unique<ReportingStage>(facts);
  }

  RunFacts facts;
};

class ReceiptTest : public testing::Test {
 protected:
  ReceiptTest() {
    GateConfig config{.repo = repo_, .base_env = {{.name = "PATH", .value = "/usr/bin:/bin"}}};
    config.own_jails = {&jail_};
    gate_ = Gate::open(std::move(config)).value();
  }
  [[nodiscard]] Result<JailedSubprocessResult> run(RunFacts facts, std::vector<Guarantee> required = {}) {
    jail_.facts = facts;
    return gate_->run({.argv = {"jq", "."}, .cwd = repo_, .limits = {.wall = 60s}, .required = std::move(required)},
                      JailKind("reporting"), {});
  }

  TestDir dir_;
  const fs::path repo_ = fs::canonical(dir_.directory("repo"));
  ReportingJail jail_;
  std::unique_ptr<Gate> gate_;
};

TEST_F(ReceiptTest, ChangesWithEachFactOnlyInWhatTheFactDecides_C26) {
  const Result<JailedSubprocessResult> bare = run({});
  ASSERT_TRUE(bare) << bare.error().message;
  const UserIds somebody{.uid = 7, .gid = 8};
  const struct {
    const char* name;
    RunFacts facts;
    std::vector<Established> established;
  } cases[] = {{"none", {}, {kAlways}},
               {"landlocked", {.landlocked = true}, {kAlways, kOfLandlock}},
               {"ports_redirected", {.ports_redirected = true}, {kAlways, kOfRedirectedPorts}},
               {"connections_carried", {.connections_carried = true}, {kAlways, kOfCarriedConnections}},
               {"run_as", {.run_as = somebody}, {kAlways}}};
  for (const auto& one : cases) {
    const Result<JailedSubprocessResult> result = run(one.facts);
    ASSERT_TRUE(result) << one.name << ": " << result.error().message;
    const Receipt& receipt = result->receipt;
    EXPECT_EQ(receipt.established, one.established) << one.name;
    EXPECT_EQ(receipt.run_as, one.facts.run_as) << one.name;
    EXPECT_EQ(receipt.jail.name(), "reporting") << one.name;
    EXPECT_EQ(receipt.binary, bare->receipt.binary) << one.name;
    EXPECT_EQ(receipt.interpreters, bare->receipt.interpreters) << one.name;
    EXPECT_EQ(receipt.policy_digest, bare->receipt.policy_digest) << one.name;
    EXPECT_EQ(receipt.plan_digest, bare->receipt.plan_digest) << one.name;
  }
}

// What does not come from the run: the file that was resolved, and both digests.
TEST_F(ReceiptTest, NamesTheFileAndHasTheDigestsThatExplainGives_C26) {
  const Result<JailedSubprocessResult> result = run({});
  ASSERT_TRUE(result) << result.error().message;
  const Result<Explanation> explained =
      gate_->explain({.argv = {"jq", "."}, .cwd = repo_, .limits = {.wall = 60s}}, JailKind("reporting"));
  ASSERT_TRUE(explained) << explained.error().message;
  EXPECT_EQ(path_of(result->receipt.binary), "/tools/jq");
  EXPECT_EQ(result->receipt.binary, explained->binary);
  EXPECT_EQ(result->receipt.plan_digest, explained->plan_digest);
  EXPECT_EQ(result->receipt.plan_digest.size(), 64U);
  EXPECT_EQ(result->receipt.policy_digest.size(), 64U);
}

// The jail announced all of it before the start, so only the report shows that a fact is missing.
TEST_F(ReceiptTest, IsNotWrittenWhenARequiredFactIsMissing_C26) {
  EXPECT_TRUE(run({.landlocked = true}, {kOfLandlock.guarantee}));  // the control
  const Result<JailedSubprocessResult> refused =
      run({.ports_redirected = true, .connections_carried = true}, {kOfLandlock.guarantee});
  ASSERT_FALSE(refused);
  ASSERT_NE(refused.error().as<GuaranteeUnavailable>(), nullptr) << refused.error().message;
  EXPECT_EQ(refused.error().as<GuaranteeUnavailable>()->guarantee, kOfLandlock.guarantee);
}

}  // namespace
}  // namespace sallyport
