#include "core/policy/make_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/json/json.h"
#include "core/policy/env_filter.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

const std::vector<EnvVar> kBase = {{"PATH", "/usr/bin"}, {"HOME", "/home/u"}, {"GITHUB_TOKEN", "s"}};
const CanonicalPaths kPaths = {
    .repo = "/src/theirs", .cwd = "/src/theirs/sub", .extra_read_only = {}, .extra_read_write = {}};

JailedSubprocessSpec spec_for(std::vector<std::string> argv) {
  JailedSubprocessSpec spec;
  spec.argv = std::move(argv);
  spec.limits.wall = 10s;
  return spec;
}

Result<Plan> plan_for(const JailedSubprocessSpec& spec, const CanonicalPaths& paths) {
  const AdmittedCall call = TRY(admit(Allowlist::builtin(), spec, kBase));
  return make_plan(call, spec, paths, "/usr/bin");
}

// The field that an InvalidRequest names, "disallowed" for a refused tool, "" for a plan.
std::string refusal(const JailedSubprocessSpec& spec, const CanonicalPaths& paths = kPaths) {
  const Result<Plan> plan = plan_for(spec, paths);
  if (plan) return "";
  if (plan.error().as<DisallowedSubprocessError>() != nullptr) return "disallowed";
  const auto* request = plan.error().as<InvalidRequest>();
  return request == nullptr ? "other" : request->field;
}

TEST(MakePlan, GivesACompleteValueForASoundRequest) {
  JailedSubprocessSpec spec = spec_for({"jq", ".", "a.json"});
  spec.required = {Guarantee::kLimitWall, Guarantee::kExecPinned, Guarantee::kLimitWall};
  spec.env_extras = {{"CI", "1"}};
  const Result<Plan> plan = plan_for(spec, kPaths);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->tool.name, "jq");
  EXPECT_EQ(plan->argv, (std::vector<std::string>{"jq", ".", "a.json"}));
  EXPECT_EQ(plan->env, (std::vector<EnvVar>{{"CI", "1"}, {"HOME", "/home/u"}, {"PATH", "/usr/bin"}}));
  EXPECT_EQ(plan->cwd, "/src/theirs/sub");
  EXPECT_EQ(plan->required, (std::vector<Guarantee>{Guarantee::kExecPinned, Guarantee::kLimitWall}));
  EXPECT_EQ(plan->ladder.grace, 100ms);
}

TEST(MakePlan, ReadsTheTextOfAProxyOrRefusesTheCall) {
  JailedSubprocessSpec spec = spec_for({"jq", "."});
  spec.via_proxy = UpstreamProxyText{.url = "http://me:secret@Proxy.Test:3128", .without = "a.test"};
  const Result<Plan> plan = plan_for(spec, kPaths);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  ASSERT_TRUE(plan->via_proxy);
  EXPECT_EQ(proxy_text(*plan->via_proxy), "http://proxy.test:3128");
  EXPECT_EQ(plan->via_proxy->credentials(), "me:secret");
  for (const char* url : {"", "socks5://proxy.test", "http://proxy.test:0"}) {
    spec.via_proxy = UpstreamProxyText{.url = url};
    EXPECT_EQ(refusal(spec), "via_proxy") << url;
  }
}

// Everything that needs no file system is decided here, and nothing later decides it again.
TEST(Admit, GivesToolHardenedArgvEnvironmentAndHosts) {
  JailedSubprocessSpec spec = spec_for({"npm", "ci"});
  spec.env_extras = {{"CI", "1"}};
  spec.allowed_hosts = {*parse_host_rule("Registry.Test")};
  const Result<AdmittedCall> call = admit(Allowlist::builtin(), spec, kBase);
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->tool.name, "npm");
  EXPECT_EQ(call->command.argv, (std::vector<std::string>{"npm", "--ignore-scripts", "ci"}));
  EXPECT_THAT(call->command.env, testing::Contains(EnvVar{"npm_config_ignore_scripts", "true"}));
  EXPECT_EQ(call->env, (std::vector<EnvVar>{{"CI", "1"}, {"HOME", "/home/u"}, {"PATH", "/usr/bin"}}));
  ASSERT_EQ(call->hosts.size(), 1U);
  EXPECT_EQ(call->hosts.front().fields().name, "registry.test");
  EXPECT_TRUE(call->git_first.has_value());
}

TEST(Admit, PutsTheHostsThatTheCallerWroteBeforeARegistrysAndRefusesWhatIsNone_C36) {
  JailedSubprocessSpec spec = spec_for({"npm", "ci"});
  spec.allowed_hosts = {*parse_host_rule("registry.test")};
  spec.allowed_egress = {"registry.test,down=1M"};
  const AdmittedCall call = admit(Allowlist::builtin(), spec, kBase).value();
  ASSERT_EQ(call.hosts.size(), 2U);
  EXPECT_EQ(call.hosts.front().fields().max_down, mebibytes(1));
  for (const char* text : {"*", "*.test", "192.0.2.1", "h.test,class=metadata"}) {
    spec.allowed_egress = {text};
    EXPECT_EQ(refusal(spec), "host rule") << text;
  }
  spec.allowed_egress = {};
  spec.open_files = 0;
  EXPECT_EQ(refusal(spec), "open_files");
}

TEST(Admit, HardensAgainForWhatGitHasListedAndChangesNothingElse) {
  const JailedSubprocessSpec spec = spec_for({"git", "status"});
  AdmittedCall call = admit(Allowlist::builtin(), spec, kBase).value();
  const std::vector<EnvVar> env = call.env;
  const std::size_t before = call.command.argv.size() + call.command.env.size();
  const GitConfiguration listed{.overrides = {{.key = "filter.x.clean", .value = ""}}};
  ASSERT_TRUE(harden_for(listed, Allowlist::builtin(), spec, call));
  EXPECT_GT(call.command.argv.size() + call.command.env.size(), before);
  EXPECT_EQ(call.env, env);
  EXPECT_EQ(call.tool.name, "git");
}

// ADR 0021: a run that may write the repo and not its configuration.
TEST(Admit, KeepsGitFromNotingBranchesWhereItsConfigurationIsShut) {
  const auto notes_none = testing::Contains("branch.autoSetupMerge=false");
  JailedSubprocessSpec spec = spec_for({"git", "checkout", "topic"});
  EXPECT_THAT(admit(Allowlist::builtin(), spec, kBase)->command.argv, testing::Not(notes_none));
  spec.repo_access = RepoAccess::kWritable;
  AdmittedCall call = admit(Allowlist::builtin(), spec, kBase).value();
  EXPECT_THAT(call.command.argv, notes_none);
  EXPECT_EQ(plan_for(spec, kPaths)->argv, call.command.argv);
  ASSERT_TRUE(harden_for({.overrides = {{"alias.x", ""}}}, Allowlist::builtin(), spec, call));
  EXPECT_THAT(call.command.argv, notes_none);
  spec.git_access = GitAccess::kWritable;
  EXPECT_THAT(admit(Allowlist::builtin(), spec, kBase)->command.argv, testing::Not(notes_none));
  spec.git_access = GitAccess::kProtected;
  spec.argv = {"npm", "ci"};
  EXPECT_THAT(admit(Allowlist::builtin(), spec, kBase)->command.argv, testing::Not(notes_none));
}

TEST(MakePlan, GivesTheChildTheTrustedPathOrNone) {
  const JailedSubprocessSpec spec = spec_for({"jq", "."});
  const AdmittedCall call = admit(Allowlist::builtin(), spec, kBase).value();
  const Plan with = make_plan(call, spec, kPaths, "/bin").value();
  EXPECT_THAT(with.env, testing::Contains(EnvVar{"PATH", "/bin"}));
  const Plan without = make_plan(call, spec, kPaths, "").value();
  for (const EnvVar& var : without.env) EXPECT_NE(var.name, "PATH");
}

TEST(MakePlan, PutsTheHardeningIntoArgvAndEnvironment_C28) {
  const Result<Plan> plan = plan_for(spec_for({"npm", "ci"}), kPaths);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->argv, (std::vector<std::string>{"npm", "--ignore-scripts", "ci"}));
  EXPECT_THAT(plan->env, testing::Contains(EnvVar{"npm_config_ignore_scripts", "true"}));
  EXPECT_TRUE(std::ranges::is_sorted(plan->env, {}, &EnvVar::name));
}

TEST(MakePlan, KeepsGitFromFindingARepoAboveTheAnalysedOne) {
  const Result<Plan> plan = plan_for(spec_for({"git", "status"}), kPaths);
  ASSERT_TRUE(plan.has_value());
  EXPECT_THAT(plan->env, testing::Contains(EnvVar{"GIT_CEILING_DIRECTORIES", "/src"}));
}

TEST(MakePlan, RefusesTheToolBeforeLookingAtAnythingElse_C2) {
  JailedSubprocessSpec spec = spec_for({"nmap"});
  spec.limits.wall = 0s;
  EXPECT_EQ(refusal(spec), "disallowed");
  EXPECT_EQ(refusal(spec_for({})), "disallowed");
  EXPECT_EQ(refusal(spec_for({"/usr/bin/git", "status"})), "disallowed");
  EXPECT_EQ(refusal(spec_for({"bwrap", "ls"})), "disallowed");
  EXPECT_FALSE(admit(Allowlist::builtin(), spec_for({}), {}).has_value());
  EXPECT_TRUE(admit(Allowlist::builtin(), spec_for({"git", "status"}), {}).has_value());
}

TEST(MakePlan, RefusesArgumentsTheKernelWouldCutOrReject) {
  EXPECT_EQ(refusal(spec_for({"jq", "a\0b"s})), "argv");
  EXPECT_EQ(refusal(spec_for({"jq", std::string(kLongestArgument, 'x')})), "argv");
  EXPECT_EQ(refusal(spec_for({"jq", std::string(kLongestArgument - 1, 'x')})), "");
  EXPECT_EQ(refusal(spec_for({"jq", std::string(1 << 20, 'x')})), "argv");
  std::vector<std::string> many(17, std::string(64 * 1024, 'x'));
  many.front() = "jq";
  EXPECT_EQ(refusal(spec_for(many)), "argv") << "1 MiB in all";
  many.resize(15);
  EXPECT_EQ(refusal(spec_for(many)), "");
}

TEST(MakePlan, RefusesTimeoutsThatAreNotPositiveOrAbsurd_C9) {
  for (const std::chrono::milliseconds wall : {0ms, -1ms, std::chrono::milliseconds(25h),
                                               std::chrono::milliseconds::max(), std::chrono::milliseconds::min()}) {
    JailedSubprocessSpec spec = spec_for({"jq"});
    spec.limits.wall = wall;
    EXPECT_EQ(refusal(spec), "timeout") << wall.count();
  }
  JailedSubprocessSpec spec = spec_for({"jq"});
  spec.limits.wall = kLongestTimeout;
  EXPECT_EQ(refusal(spec), "");
}

TEST(MakePlan, RefusesLimitsNothingCouldRunUnder) {
  const auto with = [](auto change) {
    JailedSubprocessSpec spec = spec_for({"jq"});
    change(spec.limits);
    return refusal(spec);
  };
  EXPECT_EQ(with([](Limits& l) { l.output = ByteCount{0}; }), "max_output");
  EXPECT_EQ(with([](Limits& l) { l.output = mebibytes(4097); }), "max_output");
  EXPECT_EQ(with([](Limits& l) { l.output = mebibytes(4096); }), "");
  EXPECT_EQ(with([](Limits& l) { l.memory = ByteCount{0}; }), "memory");
  EXPECT_EQ(with([](Limits& l) { l.pids = 0; }), "pids");
  EXPECT_EQ(with([](Limits& l) { l.cpu = 0ms; }), "cpu");
  EXPECT_EQ(with([](Limits& l) { l.disk = ByteCount{0}; }), "disk");
}

TEST(MakePlan, RefusesLimitsSoLargeThatSumsWithThemWouldWrap) {
  const auto with = [](auto change) {
    JailedSubprocessSpec spec = spec_for({"jq"});
    change(spec.limits);
    return refusal(spec);
  };
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  for (const std::uint64_t absurd : {kMost, kMost - 4096, kMost >> 1U, (std::uint64_t{1} << 60U) + 1}) {
    EXPECT_EQ(with([&](Limits& l) { l.disk = ByteCount{absurd}; }), "disk") << absurd;
    EXPECT_EQ(with([&](Limits& l) { l.memory = ByteCount{absurd}; }), "memory") << absurd;
    EXPECT_EQ(with([&](Limits& l) { l.output = ByteCount{absurd}; }), "max_output") << absurd;
  }
  EXPECT_EQ(with([](Limits& l) { l.disk = mebibytes(std::uint64_t{1} << 40U); }), "");
  EXPECT_EQ(with([](Limits& l) { l.memory = mebibytes(std::uint64_t{1} << 40U); }), "");
  EXPECT_EQ(with([](Limits& l) { l.pids = ~0U; }), "pids");
  EXPECT_EQ(with([](Limits& l) { l.pids = ~0U - 1; }), "pids");
  EXPECT_EQ(with([](Limits& l) { l.pids = 1U << 22U; }), "");
  EXPECT_EQ(with([](Limits& l) { l.cpu = std::chrono::milliseconds::max(); }), "cpu");
  EXPECT_EQ(with([](Limits& l) { l.wall = std::chrono::milliseconds::max(); }), "timeout");
}

TEST(MakePlan, ComparesTheWorkingDirectoryByPathComponents_C8) {
  const auto at = [](const char* repo, const char* cwd) {
    return refusal(spec_for({"jq"}), {.repo = repo, .cwd = cwd, .extra_read_only = {}, .extra_read_write = {}});
  };
  EXPECT_EQ(at("/src/theirs", "/src/theirs"), "");
  EXPECT_EQ(at("/src/theirs/", "/src/theirs/a/b"), "");
  EXPECT_EQ(at("/", "/anything"), "");
  EXPECT_EQ(at("/src/theirs", "/src/theirs2"), "cwd");
  EXPECT_EQ(at("/src/theirs", "/src"), "cwd");
  EXPECT_EQ(at("/src/theirs", "theirs"), "cwd");
  EXPECT_EQ(at("theirs", "/src"), "repo");
}

TEST(MakePlan, RefusesExtrasThatWouldUndoTheHardening_C7_C28) {
  const Result<Plan> hardened = plan_for(spec_for({"npm", "ci"}), kPaths);
  ASSERT_TRUE(hardened.has_value());
  for (const EnvVar& var : hardened->env) {
    EXPECT_NE(why_env_forbidden(var.name), "") << var.name << " must not be available as an extra";
  }
  JailedSubprocessSpec spec = spec_for({"jq"});
  spec.env_extras = {{"LD_PRELOAD", "/x.so"}};
  EXPECT_EQ(refusal(spec), "env_extras");
}

TEST(PlanDigest, ChangesWithTheSmallestChangeOfThePlan_C26) {
  Plan plan = *plan_for(spec_for({"jq", "."}), kPaths);
  const std::string digest = plan_digest(plan);
  EXPECT_EQ(digest, plan_digest(plan));
  EXPECT_EQ(digest.size(), 64U);
  plan.argv.emplace_back("\xff");
  const std::string other = plan_digest(plan);
  EXPECT_NE(other, digest);
  plan.argv.back() = "\xfe";
  EXPECT_NE(plan_digest(plan), other) << "bytes that are not text count too";
}

}  // namespace
}  // namespace sallyport
