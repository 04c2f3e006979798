#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/json/json.h"
#include "core/policy/make_plan.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Not;

JailedSubprocessSpec with_scripts(std::vector<std::string> argv) {
  JailedSubprocessSpec spec;
  spec.argv = std::move(argv);
  spec.limits.wall = 10s;
  spec.allow_package_scripts = AllowPackageScripts();
  return spec;
}

Result<Plan> plan_for(const JailedSubprocessSpec& spec) {
  const CanonicalPaths paths = {.repo = "/src", .cwd = "/src", .extra_read_only = {}, .extra_read_write = {}};
  return make_plan(TRY(admit(Allowlist::builtin(), spec, {})), spec, paths, "/usr/bin");
}

std::string refusal(const JailedSubprocessSpec& spec) {
  const Result<Plan> plan = plan_for(spec);
  if (plan) return "accepted";
  const auto* const request = plan.error().as<InvalidRequest>();
  return request == nullptr ? "other" : request->field;
}

std::string value_of(const Plan& plan, std::string_view name) {
  const auto var = std::ranges::find(plan.env, name, &EnvVar::name);
  return var == plan.env.end() ? "unset" : var->value;
}

TEST(AllowPackageScripts, LetsTheProjectsOwnScriptsRunAndSaysSoInThePlan_C25) {
  JailedSubprocessSpec spec = with_scripts({"npm", "test", "--", "--ignore-scripts"});
  const Result<Plan> plan = plan_for(spec);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->argv, (std::vector<std::string>{"npm", "--ignore-scripts=false", "test", "--", "--ignore-scripts"}));
  EXPECT_EQ(value_of(*plan, "npm_config_ignore_scripts"), "false");
  EXPECT_EQ(value_of(*plan, "npm_config_dangerously_allow_all_scripts"), "false");
  EXPECT_THAT(plan->required, Contains(Guarantee::kNetIsolated));
  EXPECT_FALSE(plan->needs_jail.empty());
  EXPECT_EQ(json_of(*plan)["package_scripts"], "allowed");
  // Without the permission: scripts are off, in both places, and the digest differs.
  spec.allow_package_scripts.reset();
  const Result<Plan> usual = plan_for(spec);
  ASSERT_TRUE(usual.has_value());
  EXPECT_THAT(usual->argv, Not(Contains("--ignore-scripts=false")));
  EXPECT_EQ(value_of(*usual, "npm_config_ignore_scripts"), "true");
  EXPECT_THAT(usual->required, Not(Contains(Guarantee::kNetIsolated)));
  EXPECT_EQ(json_of(*usual)["package_scripts"], "ignored");
  EXPECT_NE(plan_digest(*plan), plan_digest(*usual));
}

TEST(AllowPackageScripts, RebuildsThePackagesNamedAndNoOthers_C25) {
  const Result<Plan> plan = plan_for(with_scripts({"npm", "rebuild", "canvas", "@s/native"}));
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->argv, (std::vector<std::string>{"npm", "--ignore-scripts=false", "rebuild", "canvas", "@s/native"}));
  EXPECT_EQ(value_of(*plan, "npm_config_dangerously_allow_all_scripts"), "true");
  for (const std::vector<std::string>& argv : std::vector<std::vector<std::string>>{{"npm", "rebuild"},
                                                                                    {"npm", "rebuild", "--json"},
                                                                                    {"npm", "rebuild", "-w", "canvas"},
                                                                                    {"npm", "rebuild", "."},
                                                                                    {"npm", "rebuild", "/x"},
                                                                                    {"npm", "rebuild", "file:x"},
                                                                                    {"npm", "rebuild", ""}}) {
    EXPECT_EQ(refusal(with_scripts(argv)), "allow_package_scripts") << testing::PrintToString(argv);
  }
}

TEST(AllowPackageScripts, HoldsForNothingElse_C25) {
  for (const std::vector<std::string>& argv : std::vector<std::vector<std::string>>{{"npm"},
                                                                                    {"npm", "ci"},
                                                                                    {"npm", "install"},
                                                                                    {"npm", "install-test"},
                                                                                    {"npm", "--silent", "test"},
                                                                                    {"npm", "exec", "--", "tsc"},
                                                                                    {"git", "status"},
                                                                                    {"node", "x.js"}}) {
    EXPECT_EQ(refusal(with_scripts(argv)), "allow_package_scripts") << testing::PrintToString(argv);
  }
}

TEST(AllowPackageScripts, IsRefusedWithAnyHost_C24_C25) {
  JailedSubprocessSpec spec = with_scripts({"npm", "test"});
  EXPECT_EQ(refusal(spec), "accepted");
  const Result<HostRule> host = parse_host_rule("registry.test");
  ASSERT_TRUE(host.has_value());
  spec.allowed_hosts = {*host};
  EXPECT_EQ(refusal(spec), "allow_package_scripts");
}

}  // namespace
}  // namespace sallyport
