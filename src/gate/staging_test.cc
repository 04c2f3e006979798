// What the gate asks of a staged run before its start, and again of its report; and what it takes out of a jail's list (C26).
#include "gate/staging.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.h"
#include "os/openat2.h"
#include "os/test_dir.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Gives what the test says; what a started run reports adds to it.
class GivingStage final : public StagedRun {
 public:
  explicit GivingStage(std::vector<Established> gives) : gives_(std::move(gives)) {}
  [[nodiscard]] std::vector<Established> would_establish() const override { return gives_; }
  [[nodiscard]] std::vector<Established> established(const RunFacts& facts) const override {
    return facts.landlocked ? gives_ : std::vector<Established>();
  }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams&) override {
    return fail(jail_unavailable(JailKind("giving"), "no test starts it"));
  }

 private:
  const std::vector<Established> gives_;
};

class GivingJail final : public Jail {
 public:
  [[nodiscard]] std::string_view name() const override { return "giving"; }
  [[nodiscard]] Confinement confinement() const override { return is; }
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override {
    ++staged;
    purpose = request.purpose;
    another_follows = request.another_follows;
    cwd = request.cwd;
    if (holds_limits && !request.host.hold_limits({}))
      return fail(jail_unavailable(JailKind("giving"), "it holds no limits"));
    if (stages_nothing) return std::unique_ptr<StagedRun>();
    return std::make_unique<GivingStage>(gives);
  }

  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return never; }

  Confinement is = Confinement::kJailed;
  std::vector<Established> gives;
  std::vector<Guarantee> never;
  bool holds_limits = false;
  bool stages_nothing = false;
  int staged = 0;
  Purpose purpose = Purpose::kRun;
  bool another_follows = false;
  int cwd = -1;
};

class StagingTest : public testing::Test {
 protected:
  StagingTest() {
    fs::create_directories(repo_);
    prepared_.plan.repo = repo_;
    prepared_.plan.cwd = repo_;
    prepared_.plan.limits.wall = 1s;
    const ImageFile file{.image = "tests", .digest = "sha256:70f5", .path = "/tool"};
    prepared_.tool = std::make_shared<const Executable>(Executable{.identity = file, .argv0 = "tool"});
    config_.base_env = {{.name = "HOME", .value = (dir() / "homes/me").native()}};
  }

  [[nodiscard]] fs::path dir() const { return fs::canonical(dir_.path()); }
  [[nodiscard]] EngineCallHost host() { return {config_, hashes_, root_, prepared_, Purpose::kExplain}; }
  [[nodiscard]] Result<Staging> stage_it() {
    EngineCallHost for_call = host();
    return stage(jail_, for_call, prepared_, Purpose::kExplain);
  }
  // The guarantee that is missing, if that is why; otherwise what else it says.
  [[nodiscard]] std::string missing(const Result<Staging>& staging) const {
    if (staging) return "nothing";
    const auto* const unavailable = staging.error().as<GuaranteeUnavailable>();
    return unavailable == nullptr ? staging.error().message : std::string(name_of(unavailable->guarantee));
  }
  [[nodiscard]] std::string refused_field() {
    const Result<Staging> staging = stage_it();
    if (staging) return "nothing";
    const auto* const request = staging.error().as<InvalidRequest>();
    return request == nullptr ? staging.error().message : request->field;
  }

  TestDir dir_;
  fs::path repo_ = dir() / "repo";
  GateConfig config_;
  HashCache hashes_;
  SharedHostRoot root_;
  Prepared prepared_;
  GivingJail jail_;
};

TEST_F(StagingTest, PassesTheJailTheCallAndKeepsWhatItWouldGive) {
  jail_.gives = {{Guarantee::kNetIsolated, Mechanism::kJailsOwn}};
  prepared_.cwd = open_exactly(repo_, O_PATH | O_DIRECTORY).value();
  EngineCallHost for_call = host();
  const Result<Staging> staging = stage(jail_, for_call, prepared_, Purpose::kExplain, true);
  ASSERT_TRUE(staging) << staging.error().message;
  EXPECT_NE(staging->run, nullptr);
  EXPECT_EQ(staging->would_establish, jail_.gives);
  EXPECT_EQ(jail_.purpose, Purpose::kExplain);
  EXPECT_TRUE(jail_.another_follows);
  EXPECT_EQ(jail_.cwd, prepared_.cwd.get());
}

TEST_F(StagingTest, RefusesAJailThatStagesNothing) {
  jail_.stages_nothing = true;
  const Result<Staging> refused = stage_it();
  ASSERT_FALSE(refused);
  ASSERT_NE(refused.error().as<JailUnavailable>(), nullptr) << refused.error().message;
  EXPECT_EQ(refused.error().as<JailUnavailable>()->jail.name(), "giving");
}

TEST_F(StagingTest, RefusesARequiredGuaranteeThatTheJailDoesNotGive_C26) {
  jail_.gives = {{Guarantee::kNetIsolated, Mechanism::kJailsOwn}};
  prepared_.plan.required = {Guarantee::kNetIsolated};
  EXPECT_EQ(missing(stage_it()), "nothing");  // the control
  prepared_.plan.required = {Guarantee::kFsHomeHidden, Guarantee::kNetIsolated};
  const Result<Staging> refused = stage_it();
  EXPECT_EQ(missing(refused), name_of(Guarantee::kFsHomeHidden));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("\"giving\""), std::string::npos) << refused.error().message;
}

// A caller who sets a limit or names hosts gets exactly that or no run, even without requiring the guarantee (C24).
TEST_F(StagingTest, RefusesALimitOrAHostListThatTheJailDoesNotKeep_C26) {
  const struct {
    Guarantee guarantee;
    std::function<void(Plan&)> ask;
  } asked[] = {
      {Guarantee::kNetEgressAllowlist, [](Plan& plan) { plan.allowed_hosts = {*parse_host_rule("host.test")}; }},
      {Guarantee::kLimitMemory, [](Plan& plan) { plan.limits.memory = mebibytes(1); }},
      {Guarantee::kLimitPids, [](Plan& plan) { plan.limits.pids = 4; }},
      {Guarantee::kLimitCpu, [](Plan& plan) { plan.limits.cpu = 1s; }},
      {Guarantee::kLimitDisk, [](Plan& plan) { plan.limits.disk = mebibytes(1); }}};
  EXPECT_EQ(missing(stage_it()), "nothing") << "nothing was asked for";
  for (const auto& one : asked) {
    prepared_.plan.allowed_hosts.clear();
    prepared_.plan.limits = {.wall = 1s};
    one.ask(prepared_.plan);
    jail_.gives.clear();
    EXPECT_EQ(missing(stage_it()), name_of(one.guarantee));
    jail_.gives = {{one.guarantee, Mechanism::kJailsOwn}};
    EXPECT_EQ(missing(stage_it()), "nothing") << name_of(one.guarantee);  // the control
  }
}

TEST_F(StagingTest, CountsTheLimitsThatTheGateHoldsForTheJail) {
  prepared_.plan.limits.memory = mebibytes(1);
  jail_.holds_limits = true;
  const Result<Staging> staging = stage_it();
  ASSERT_TRUE(staging) << staging.error().message;
  EXPECT_EQ(staging->would_establish, (std::vector<Established>{{Guarantee::kLimitMemory, Mechanism::kCgroupOrWatch}}));
}

TEST_F(StagingTest, ChecksTheReportOfARunAsItCheckedTheAnnouncement_C26) {
  const GivingStage run({{Guarantee::kNetIsolated, Mechanism::kJailsOwn}});
  const EngineCallHost for_call = host();
  prepared_.plan.required = {Guarantee::kNetIsolated};
  EXPECT_TRUE(check_established(jail_, run, {.landlocked = true}, for_call, prepared_));  // the control
  const Status refused = check_established(jail_, run, {}, for_call, prepared_);
  ASSERT_FALSE(refused);
  ASSERT_NE(refused.error().as<GuaranteeUnavailable>(), nullptr) << refused.error().message;
  EXPECT_EQ(refused.error().as<GuaranteeUnavailable>()->guarantee, Guarantee::kNetIsolated);
  prepared_.plan.required.clear();
  EXPECT_TRUE(check_established(jail_, run, {}, for_call, prepared_)) << "nothing is required";
  prepared_.plan.limits.disk = mebibytes(1);
  EXPECT_FALSE(check_established(jail_, run, {.landlocked = true}, for_call, prepared_)) << "asked for, and not given";
}

// When the gate doubts one guarantee, it drops that one from the jail's list, and no other.
TEST_F(StagingTest, DropsWhatTheGateDoubts) {
  const std::vector<Established> all = {{Guarantee::kFsGitProtected, Mechanism::kMounts},
                                        {Guarantee::kFsWriteConfined, Mechanism::kMounts},
                                        {Guarantee::kFsReadonlySystem, Mechanism::kMounts}};
  const EngineCallHost for_call = host();
  EXPECT_EQ(with_gates_part(jail_, all, for_call, prepared_), all);  // the control
  prepared_.write_doubt = "a second name";
  EXPECT_EQ(with_gates_part(jail_, all, for_call, prepared_), (std::vector<Established>{all[0], all[2]}));
  prepared_.write_doubt.clear();
  Plan open;
  open.repo = repo_;
  open.repo_access = RepoAccess::kWritable;
  open.git_access = GitAccess::kWritable;
  Result<GitGuard> guard = GitGuard::look(open);
  ASSERT_TRUE(guard) << guard.error().message;
  prepared_.git = *std::move(guard);
  EXPECT_EQ(with_gates_part(jail_, all, for_call, prepared_), (std::vector<Established>{all[1], all[2]}));
}

TEST_F(StagingTest, DropsALimitThatTheJailNeverGivesThoughItHasTheGateHoldIt_C26) {
  prepared_.plan.limits.memory = mebibytes(1);
  jail_.holds_limits = true;
  jail_.never = {Guarantee::kLimitMemory};
  EXPECT_EQ(missing(stage_it()), name_of(Guarantee::kLimitMemory));
}

// It may share a step with a jail that does.
TEST_F(StagingTest, DropsWhatTheJailNeverGives_C26) {
  jail_.gives = {{Guarantee::kFsWriteConfined, Mechanism::kMounts}, {Guarantee::kExecPinned, Mechanism::kIdentity}};
  prepared_.plan.required = {Guarantee::kExecPinned};
  EXPECT_EQ(missing(stage_it()), "nothing");  // the control
  jail_.never = {Guarantee::kExecPinned};
  EXPECT_EQ(missing(stage_it()), name_of(Guarantee::kExecPinned));
  EXPECT_EQ(with_gates_part(jail_, jail_.gives, host(), prepared_), (std::vector<Established>{jail_.gives[0]}));
}

TEST_F(StagingTest, DropsWhatNamesNoGuarantee) {
  const Established real{Guarantee::kNetIsolated, Mechanism::kJailsOwn};
  EXPECT_EQ(with_gates_part(jail_, {{static_cast<Guarantee>(200), Mechanism::kJailsOwn}, real}, host(), prepared_),
            std::vector<Established>{real});
}

// name_of(Mechanism) reads a table: the receipt of a jail that lies must not read beyond its end.
TEST_F(StagingTest, DropsWhatNamesNoMechanismAndThenRefusesWhatWasRequired_C26) {
  const Established real{Guarantee::kNetIsolated, Mechanism::kJailsOwn};
  const Established lie{Guarantee::kFsHomeHidden, static_cast<Mechanism>(kMechanisms.size())};
  const Established far{Guarantee::kFsHomeHidden, static_cast<Mechanism>(255)};
  EXPECT_EQ(with_gates_part(jail_, {lie, real, far}, host(), prepared_), std::vector<Established>{real});
  jail_.gives = {real, lie};
  prepared_.plan.required = {Guarantee::kNetIsolated};
  EXPECT_EQ(missing(stage_it()), "nothing");  // the control
  prepared_.plan.required = {Guarantee::kFsHomeHidden};
  EXPECT_EQ(missing(stage_it()), name_of(Guarantee::kFsHomeHidden));
}

TEST_F(StagingTest, DropsWhatTheViewGivesAwayAndNamesThePath_C26) {
  const fs::path homes = dir() / "homes";
  fs::create_directories(homes / "me");
  jail_.gives = {{Guarantee::kFsHomeHidden, Mechanism::kMountNamespace}};
  prepared_.plan.required = {Guarantee::kFsHomeHidden};
  EXPECT_EQ(missing(stage_it()), "nothing");  // the control
  prepared_.plan.extra_read_only = {homes};
  EngineCallHost for_call = host();
  const auto view = for_call.view();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_TRUE(with_gates_part(jail_, jail_.gives, for_call, prepared_).empty());
  const Result<Staging> refused = stage(jail_, for_call, prepared_, Purpose::kExplain);
  EXPECT_EQ(missing(refused), name_of(Guarantee::kFsHomeHidden));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(homes.native() + " is shown"), std::string::npos) << refused.error().message;
}

TEST_F(StagingTest, RefusesWithoutAJailWhatNeedsOneBeforeTheJailSeesIt) {
  prepared_.plan.needs_jail = "it runs the repo's code";
  EXPECT_EQ(refused_field(), "nothing");  // the control: this one confines
  jail_.is = Confinement::kNone;
  jail_.staged = 0;
  EXPECT_EQ(refused_field(), "jail");
  prepared_.plan.allow_unjailed = true;
  EXPECT_EQ(jail_.staged, 0);
  EXPECT_EQ(refused_field(), "nothing") << "the caller allows it";
}

TEST_F(StagingTest, RefusesWithoutAJailWhatOnlyAJailCanShowOrHide) {
  const struct {
    std::string field;
    std::function<void(Plan&)> ask;
  } asked[] = {{"jail", [](Plan& plan) { plan.hidden = {"/secret"}; }},
               {"jail", [](Plan& plan) { plan.no_exec = {"/downloads"}; }},
               {"extra_ca", [](Plan& plan) { plan.extra_ca = "/ca.pem"; }}};
  const Plan plain = prepared_.plan;
  for (const auto& one : asked) {
    prepared_.plan = plain;
    one.ask(prepared_.plan);
    jail_.is = Confinement::kJailed;
    EXPECT_EQ(refused_field(), "nothing");  // the control
    jail_.is = Confinement::kNone;
    EXPECT_EQ(refused_field(), one.field);
  }
  prepared_.plan = plain;
  EXPECT_EQ(refused_field(), "nothing") << "without a jail, and without such a wish";
}

TEST_F(StagingTest, ChecksTheToolsFilesBeforeTheJailSeesThePlan) {
  prepared_.plan.files = {{.kind = FileRule::Kind::kOutput, .path = "report.json", .what = "the report"}};
  EXPECT_EQ(refused_field(), "nothing");  // the control
  fs::create_symlink(dir() / "elsewhere", repo_ / "report.json");
  jail_.staged = 0;
  EXPECT_EQ(refused_field(), "argv");
  EXPECT_EQ(jail_.staged, 0);
}

}  // namespace
}  // namespace sallyport
