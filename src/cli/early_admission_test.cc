#include "cli/early_admission.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "sallyport/allowlist.h"

namespace sallyport::cli {
namespace {

constexpr std::string_view kGoverned = "decision_record = \"X-1\"\nreason = \"is needed\"\n";

std::string policy_with(std::string_view lines) {
  return "schema = \"sallyport.policy/1\"\n[[tool]]\n" + std::string(lines) + "\n" + std::string(kGoverned);
}

bool surely(const std::string& policy, const char* tool) {
  return policy_surely_has(policy.data(), policy.size(), tool);
}

TEST(EarlyAdmission, KnowsTheBuiltinSetWithoutItsWrappers_C2) {
  for (const std::string_view name : kAllowedBinaries) {
    EXPECT_EQ(builtin_set_surely_has(std::string(name).c_str()), Allowlist::builtin().admit(name).has_value()) << name;
  }
  for (const char* stranger : {"", "gi", "gitt", "/usr/bin/git", "bash", "GIT", "git "}) {
    EXPECT_FALSE(builtin_set_surely_has(stranger)) << stranger;
  }
}

TEST(EarlyAdmission, FindsTheToolOfAPolicy) {
  for (const char* line : {"name = \"tool\"", "  name=\"tool\"  ", "\tname\t=\t\"tool\"\r", "name = \"tool\""}) {
    const std::string policy = policy_with(line);
    EXPECT_TRUE(Allowlist::from_policy(policy, "p").has_value()) << line;
    EXPECT_TRUE(surely(policy, "tool")) << line;
    EXPECT_FALSE(surely(policy, "too")) << line;
    EXPECT_FALSE(surely(policy, "tools")) << line;
  }
  EXPECT_TRUE(surely(policy_with("name = \"other\"\n" + std::string(kGoverned) + "[[tool]]\nname = \"tool\""), "tool"));
}

TEST(EarlyAdmission, DoesNotTakeAnotherMeaningForAName_C2) {
  const std::string other = "name = \"other\"\n";
  const std::vector<std::string> misleading = {
      other + "# name = \"tool\"", other + "install_hint = \"\"\"\nname = \"tool\"\n\"\"\"",
      other + "install_hint = '''\nname = \"tool\"\n'''", "name = \"tool\"\nrole = \"wrapper\"",
      "name = \"tool\"\nrole = \"wr\\u0061pper\""};
  for (const std::string& lines : misleading) {
    const std::string policy = policy_with(lines);
    const Result<Allowlist> real = Allowlist::from_policy(policy, "p");
    ASSERT_TRUE(real.has_value()) << lines << ": " << real.error().message;
    EXPECT_FALSE(real->admit("tool").has_value()) << lines;
    EXPECT_FALSE(surely(policy, "tool")) << lines;
  }
  // Escapes mean something else in a policy than on a command line.
  EXPECT_FALSE(surely(policy_with("name = \"a\\u0062\""), "a\\u0062"));
  EXPECT_FALSE(surely(policy_with("name = \"tool\""), "tool\"\nname = \"other"));
  EXPECT_FALSE(surely("", "tool"));
  EXPECT_FALSE(surely("name = \"\"", ""));
}

}  // namespace
}  // namespace sallyport::cli
