// What every jail behind the gate must keep to, ours and an embedder's alike. The toy is CONTRIBUTING.md's own.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "core/json/json.h"
#include "gate/builtin_jails.h"
#include "gate/engine.h"
#include "gate/gate_fixture.h"
#include "gate/podman_image.h"
#include "gate/stand_in_jail.h"
#include "sallyport/jail_port.h"
#include "support/deep.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;

#include "toy_jail.inc"

constexpr JailKind kToy{"toy"};

std::string slow_jail_name(const testing::TestParamInfo<JailKind>& info) {
  std::string name = jail_name(info);
  std::ranges::replace(name, '-', '_');
  return name;
}

class JailContract : public GateTest, public testing::WithParamInterface<JailKind> {
 protected:
  JailContract() {
    GateConfig with_toy = config();
    with_toy.own_jails = {&toy_, &stand_in_};
    with_toy.search_path.push_back(stand_in_dir());
    if (GetParam() == kContainerJail) {
      static const PodmanImage image;
      with_toy.container = image.options();
    }
    gate_ = Gate::open(std::move(with_toy)).value();
  }
  [[nodiscard]] JailedSubprocessResult run(const JailedSubprocessSpec& what) const {
    return GateTest::run(*gate_, what, GetParam());
  }

  ToyJail toy_;
  StandInJail stand_in_;
  std::unique_ptr<Gate> gate_;
};

// KVM and macOS; what holds without them is tried in tests/microvm and sandbox_exec_test.cc.
constexpr std::array kNotOnThisMachine = {kMicrovmJail, JailKind::kSandboxExec};
// Each run needs a boot or a container: only in the long tests, which take hours, and where their programs are installed.
constexpr std::array kSlow = {kMicrovmTcgJail, kContainerJail};

// Every one that the gate has, so that a new one cannot be forgotten, and those that a program brings with it.
std::vector<JailKind> every_jail() {
  std::vector<JailKind> jails;
  for (const JailOffer& offer : Gate::open({}).value()->jails()) {
    const auto is_it = [&offer](JailKind kind) { return kind == offer.kind; };
    if (std::ranges::none_of(kNotOnThisMachine, is_it) && std::ranges::none_of(kSlow, is_it))
      jails.push_back(offer.kind);
  }
  jails.insert(jails.end(), {kStandIn, kToy});
  return jails;
}
INSTANTIATE_TEST_SUITE_P(, JailContract, testing::ValuesIn(every_jail()), jail_name);

std::vector<JailKind> slow_jails() {
  if (!deep()) return {};
  return {kSlow.begin(), kSlow.end()};
}
INSTANTIATE_TEST_SUITE_P(Slow, JailContract, testing::ValuesIn(slow_jails()), slow_jail_name);

TEST_P(JailContract, ReportsTheToolsOwnEnd_C20) {
  EXPECT_EQ(exit_code(run(spec({"exit_with", "0"}))), 0);
  EXPECT_EQ(exit_code(run(spec({"exit_with", "137"}))), 137);
  const Outcome killed = run(spec({"die_by_signal", "11"})).outcome;
  ASSERT_TRUE(std::holds_alternative<Completed>(killed));
  EXPECT_EQ(std::get<Signal>(std::get<Completed>(killed).fate).number, SIGSEGV);
}

TEST_P(JailContract, PassesArgumentsAndOutputByteForByte) {
  const JailedSubprocessResult result = run(spec({"print_args", "", "two words", "$(id)"}));
  EXPECT_EQ(result.stdout_stream.bytes, "[]\n[two words]\n[$(id)]\n");
  EXPECT_EQ(result.stderr_stream.bytes, "");
}

TEST_P(JailContract, GivesTheToolTheExplainedEnvironmentAndNoOther_C7) {
  JailedSubprocessSpec what = spec({"print_env"});
  // A jail with a private directory for temporary files, or a proxy of its own, drops the caller's.
  what.env_extras = {{"GIVEN", "yes"}, {"HTTPS_PROXY", "http://proxy.test:1"}, {"TMP", "/x"}};
  std::vector<std::string> explained;
  const Explanation explanation = gate_->explain(what, GetParam()).value();
  for (const EnvVar& var : explanation.plan.env) explained.push_back(var.name + "=" + var.value);
  std::vector<std::string> found;
  std::istringstream env(run(what).stdout_stream.bytes);
  // A directory that is made for each run has no name before.
  const std::regex directory_of_run("=/tmp/sallyport-[^/]+/");
  for (std::string line; std::getline(env, line);) {
    found.push_back(std::regex_replace(line, directory_of_run, "=/tmp/sallyport-…/"));
  }
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(explained));
  EXPECT_THAT(found, testing::Contains("GIVEN=yes"));
  EXPECT_THAT(found, testing::Not(testing::Contains(testing::HasSubstr("canary"))));
}

TEST_P(JailContract, EndsAToolAtItsDeadline_C9) {
  JailedSubprocessSpec what = spec({"sleep_forever"});
  what.limits.wall = 300ms;
  EXPECT_TRUE(std::holds_alternative<TimedOut>(run(what).outcome));
}

TEST_P(JailContract, EndsAToolWhenTheCallerStops_C10) {
  std::stop_source source;
  source.request_stop();
  const Result<JailedSubprocessResult> result = gate_->run(spec({"sleep_forever"}), GetParam(), source.get_token());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(std::holds_alternative<Cancelled>(result->outcome));
}

// Admission is the gate's, whatever stands below it (C2, C4).
TEST_P(JailContract, NeverSeesAToolThatIsNotAdmitted_C2) {
  for (const char* tool : {"bwrap", "runc", "runsc", "qemu-system-x86_64", "/bin/sh", "unheard_of", ""}) {
    const Result<JailedSubprocessResult> result = gate_->run(spec({tool}), GetParam(), {});
    ASSERT_FALSE(result) << tool;
    EXPECT_NE(result.error().as<DisallowedSubprocessError>(), nullptr) << tool;
  }
}

// The receipt lists what was announced, no more and no less, and names the jail (C26).
TEST_P(JailContract, EstablishesWhatItAnnounced_C26) {
  const JailedSubprocessSpec what = spec({"exit_with", "0"});
  const Result<Explanation> explanation = gate_->explain(what, GetParam());
  ASSERT_TRUE(explanation) << explanation.error().message;
  const Receipt receipt = run(what).receipt;
  const auto guarantees = [](const std::vector<Established>& entries) {
    std::vector<Guarantee> found;
    for (const Established& entry : entries) found.push_back(entry.guarantee);
    std::ranges::sort(found);
    return found;
  };
  EXPECT_EQ(guarantees(receipt.established), guarantees(explanation->would_establish));
  EXPECT_EQ(receipt.jail.name(), GetParam().name());
  EXPECT_EQ(explanation->jail.name(), GetParam().name());
  EXPECT_EQ(receipt.binary, explanation->binary);
  EXPECT_TRUE(receipt.has(Guarantee::kExecAllowlisted));
}

TEST_P(JailContract, RefusesARequiredGuaranteeThatItDoesNotGive_C26) {
  const Result<Explanation> explanation = gate_->explain(spec({"exit_with", "0"}), GetParam());
  ASSERT_TRUE(explanation) << explanation.error().message;
  JailedSubprocessSpec what = spec({"leave_mark", (repo_ / "mark").string()});
  what.repo_access = RepoAccess::kWritable;
  for (const GuaranteeInfo& info : kGuarantees) {
    const bool given = std::ranges::find(explanation->would_establish, info.guarantee, &Established::guarantee) !=
                       explanation->would_establish.end();
    // Seccomp denies Unix sockets only to a call that requires it, so the jail does not announce it to others.
    if (given || info.guarantee == Guarantee::kNetUnixIsolated) continue;
    what.required = {info.guarantee};
    const Result<JailedSubprocessResult> result = gate_->run(what, GetParam(), {});
    ASSERT_FALSE(result) << info.name;
    EXPECT_NE(result.error().as<GuaranteeUnavailable>(), nullptr) << info.name << ": " << result.error().message;
  }
  EXPECT_FALSE(std::filesystem::exists(repo_ / "mark")) << "the tool ran";
}

// A caller who names hosts or bounds the disk gets both, or no run.
TEST_P(JailContract, RunsNothingWithoutTheLimitsThatWereAskedFor) {
  JailedSubprocessSpec what = spec({"exit_with", "0"});
  what.limits.disk = mebibytes(16);
  what.allowed_hosts = {*parse_host_rule("host.test")};
  const Result<JailedSubprocessResult> result = gate_->run(what, GetParam(), {});
  if (result) {
    EXPECT_TRUE(result->receipt.has(Guarantee::kLimitDisk));
    EXPECT_TRUE(result->receipt.has(Guarantee::kNetEgressAllowlist));
  } else {
    EXPECT_NE(result.error().as<GuaranteeUnavailable>(), nullptr) << result.error().message;
  }
}

TEST_P(JailContract, LeavesNothingBehindWhenItOnlyExplains) {
  JailedSubprocessSpec what = spec({"leave_mark", (repo_ / "mark").string()});
  what.repo_access = RepoAccess::kWritable;
  ASSERT_TRUE(gate_->explain(what, GetParam()));
  EXPECT_FALSE(std::filesystem::exists(repo_ / "mark"));
}

class OwnJail : public JailContract {};
INSTANTIATE_TEST_SUITE_P(, OwnJail, testing::Values(kToy), jail_name);

// A file of an image is named with the image's digest, in the receipt as in JSON.
TEST_P(OwnJail, NamesItsExecutableByTheImage) {
  const Receipt receipt = run(spec({"exit_with", "0"})).receipt;
  const auto* file = std::get_if<ImageFile>(&receipt.binary);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->path, "/toys/exit_with");
  const Json json = json_of(receipt);
  EXPECT_EQ(json["binary"]["digest"], "sha256:70f5");
  EXPECT_EQ(json["jail"], "toy");
}

// The gate hardens and announces for it as for its own.
TEST_P(OwnJail, IsBelowTheGate) {
  const Result<Explanation> explanation = gate_->explain(spec({"git", "status"}), kToy);
  ASSERT_TRUE(explanation) << explanation.error().message;
  EXPECT_GT(explanation->plan.argv.size(), 2U) << "no hardening";
  static_cast<void>(run(spec({"exit_with", "0"})));
  EXPECT_EQ(events_.named("subproc.jail.wrapped").size(), 1U);
}

TEST_P(OwnJail, IsTakenByAutoOnlyWhenTheConfigurationSaysSo) {
  GateConfig first = config();
  first.own_jails = {&toy_};
  first.auto_jails = {kToy};
  const std::unique_ptr<Gate> gate = Gate::open(std::move(first)).value();
  EXPECT_EQ(GateTest::run(*gate, spec({"exit_with", "0"}), JailKind::kAuto).receipt.jail.name(), "toy");
  EXPECT_NE(GateTest::run(*gate_, spec({"exit_with", "0"}), JailKind::kAuto).receipt.jail.name(), "toy");
}

// The recipe for one of this source tree, from its line in builtin_jails.h on.
TEST_P(OwnJail, IsBuiltInByOneLine) {
  BuiltinJails jails(0, spawn::SupplyFor::kManyRuns, {});
  jails.add<ToyJail>();
  Result<JailSet> set = JailSet::of(jails.all(), config().auto_jails);
  ASSERT_TRUE(set) << set.error().message;
  Engine gate(config(), std::nullopt, *std::move(set), jails.root());
  EXPECT_EQ(GateTest::run(gate, spec({"exit_with", "0"}), kToy).receipt.jail.name(), "toy");
  EXPECT_EQ(GateTest::run(gate, spec({"exit_with", "0"}), JailKind::kNone).receipt.jail.name(), "none");
  EXPECT_EQ(std::ranges::count(gate.jails(), kToy, &JailOffer::kind), 1);
}

// Records the plan that the gate gives it, then refuses, so that the gate tries the next jail.
class RefusingJail final : public Jail {
 public:
  RefusingJail(std::string name, bool of_image) : name_(std::move(name)), of_image_(of_image) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Result<std::shared_ptr<const Executable>> resolve(const Plan& plan, CallHost& host) override {
    if (!of_image_) return host.pin_tool();
    const ImageFile file{.image = "toys", .digest = "sha256:70f5", .path = "/toys/" + plan.tool.name};
    return std::make_shared<const Executable>(Executable{.identity = file, .argv0 = plan.tool.name});
  }
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override {
    argv = request.plan.argv;
    for (const EnvVar& var : request.plan.env) {
      names.push_back(var.name);
      env.push_back(var.name + "=" + var.value);
    }
    return fail(Error{JailUnavailable{.jail = kind()}, "it only looks", "another jail"});
  }
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::vector<std::string> names;  // of the variables

 private:
  const std::string name_;
  const bool of_image_;
};

// The host's npm gets options with the host's paths, and leaves variables out that its version does not know: an image's gets none of
// these, and a host jail that is tried after it gets them once.
TEST_P(OwnJail, FitsTheCommandToTheToolOfEachJailThatIsTried) {
  RefusingJail host("host", false);
  RefusingJail image("image", true);
  RefusingJail host_again("host_again", false);
  GateConfig all = config();
  all.allowlist = Allowlist::builtin();
  all.own_jails = {&host, &image, &host_again};
  all.auto_jails = {JailKind("host"), JailKind("image"), JailKind("host_again")};
  const std::unique_ptr<Gate> gate = Gate::open(std::move(all)).value();
  JailedSubprocessSpec what = spec({"npm", "ci"});
  what.allowed_egress = {"registry.test"};
  const auto refused = gate->run(what, JailKind::kAuto, {});
  ASSERT_FALSE(refused);
  ASSERT_NE(refused.error().as<JailUnavailable>(), nullptr) << refused.error().message;
  const auto of_layout = testing::Contains(testing::HasSubstr("globalconfig"));
  EXPECT_THAT(host.argv, of_layout);  // the control
  EXPECT_THAT(image.argv, testing::AllOf(testing::Not(testing::IsEmpty()), testing::Not(of_layout)));
  EXPECT_THAT(image.env, testing::Not(testing::Contains(testing::HasSubstr("npm_config_globalconfig="))));
  EXPECT_EQ(host_again.argv, host.argv);
  EXPECT_EQ(host_again.env, host.env);
}

TEST_P(OwnJail, GetsAQuestionOfGitsWithItsVariablesInOrder) {
  RefusingJail host("host", false);
  GateConfig one = config();
  one.own_jails = {&host};
  const std::unique_ptr<Gate> gate = Gate::open(std::move(one)).value();
  ASSERT_FALSE(gate->run(spec({"git", "status"}), JailKind("host"), {}));
  EXPECT_THAT(host.argv, testing::Contains("--list"));  // the question, which comes first
  EXPECT_THAT(host.env, testing::Contains("GIT_TRACE2=2"));
  EXPECT_TRUE(std::ranges::is_sorted(host.names));
}

TEST_P(OwnJail, MayNotPassForABuiltInOne) {
  GateConfig twice = config();
  twice.own_jails = {&toy_, &toy_};
  EXPECT_FALSE(Gate::open(std::move(twice)));
}

}  // namespace
}  // namespace sallyport::test
