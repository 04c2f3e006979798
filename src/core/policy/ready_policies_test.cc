#include "core/policy/ready_policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace sallyport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(ReadyPolicies, EveryEntryIsGovernedAndHardened_C3) {
  std::set<std::string_view> names;
  for (const ReadyPolicy& ready : ready_policies()) {
    names.insert(ready.name);
    const Result<Allowlist> set = Allowlist::from_policy(ready.toml, ready.name);
    ASSERT_TRUE(set) << set.error().message;
    for (const ToolEntry& entry : set->entries()) {
      EXPECT_EQ(entry.decision_record, "ADR-0045");
      EXPECT_THAT(entry.install_hint, Not(IsEmpty())) << entry.name;
      EXPECT_NE(entry.hardening, kNoHardening) << entry.name << " runs what the repo says, or has a hardening";
    }
  }
  EXPECT_THAT(names, ElementsAre("cpp", "go", "java", "node", "python", "rust", "shell"));
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(SALLYPORT_ADR_DIR) / "0045-ready-policies.md"));
}

TEST(ReadyPolicies, MakeOnePolicyOfSeveral) {
  const std::vector<std::string> wanted = {"node", "python"};
  const Result<std::string> text = make_policy_text(wanted);
  ASSERT_TRUE(text) << text.error().message;
  const Result<Allowlist> set = Allowlist::from_policy(*text, "made");
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->find("npx")->hardening, "npx");
  EXPECT_EQ(set->find("python3")->hardening, "jailed");
  EXPECT_NE(set->find("git"), nullptr);
  EXPECT_EQ(set->find("sh"), nullptr);
  const std::vector<std::string> typo = {"pyton"};
  EXPECT_THAT(make_policy_text(typo).error().hint, HasSubstr("python"));
  EXPECT_FALSE(make_policy_text({}));
}

TEST(ReadyPolicies, ARefusalPointsToTheOneThatHasTheTool) {
  for (const auto& [tool, policy] : {std::pair{"python3", "python"}, std::pair{"make", "cpp"}, std::pair{"npx", "node"},
                                     std::pair{"ls", "shell"}, std::pair{"cargo", "rust"}}) {
    EXPECT_THAT(ready_policies_with(tool), ElementsAre(policy));
    EXPECT_THAT(Allowlist::builtin().admit(tool).error().hint,
                HasSubstr("policies/" + std::string(policy) + ".toml as `policy`"));
  }
  EXPECT_THAT(ready_policies_with("no-such-tool"), IsEmpty());
}

TEST(Admission, ACommandInOneWordIsAQuestionOfQuoting) {
  EXPECT_THAT(Allowlist::builtin().admit("git log").error().hint,
              HasSubstr("as words of their own in `argv`: git log"));
}

}  // namespace
}  // namespace sallyport
