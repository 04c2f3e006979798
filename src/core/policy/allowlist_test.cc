#include "sallyport/allowlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/policy/builtin_allowlist.h"

namespace sallyport {
namespace {

Allowlist set_of(std::vector<ToolEntry> entries) {
  Result<Allowlist> set = Allowlist::of(std::move(entries));
  if (!set) ADD_FAILURE() << set.error().message;
  return set.value_or(Allowlist::builtin());
}

std::string hint_for(std::string_view tool) {
  const Result<ToolEntry> entry = Allowlist::builtin().admit(tool);
  return entry ? "" : entry.error().hint;
}

TEST(BuiltinAllowlist, HoldsExactlyTheSixteenGovernedNames_C2_C3) {
  const std::set<std::string> expected = {"git",   "node",     "docker",          "strace",      "semgrep",  "syft",
                                          "grype", "gitleaks", "scip-typescript", "tree-sitter", "ast-grep", "rg",
                                          "npm",   "bwrap",    "sandbox-exec",    "jq"};
  std::set<std::string> names;
  for (const ToolEntry& entry : Allowlist::builtin().entries()) names.insert(entry.name);
  EXPECT_EQ(names, expected);
  EXPECT_EQ(Allowlist::builtin().entries().size(), 16U);
  EXPECT_EQ(names, std::set<std::string>(kAllowedBinaries.begin(), kAllowedBinaries.end()));
}

TEST(BuiltinAllowlist, EveryEntrySaysWhyItIsThereAndHowToGetIt_C3) {
  for (const ToolEntry& entry : Allowlist::builtin().entries()) {
    EXPECT_THAT(entry.reason, testing::Not(testing::IsEmpty())) << entry.name;
    EXPECT_THAT(entry.reason, testing::Not(testing::HasSubstr("\n"))) << entry.name;
    EXPECT_THAT(entry.install_hint, testing::Not(testing::IsEmpty())) << entry.name;
    EXPECT_FALSE(entry.sha256.has_value()) << entry.name;
  }
}

TEST(BuiltinAllowlist, EveryDecisionRecordIsAFileInTheProject_C3) {
  std::set<std::string> records;
  for (const auto& file : std::filesystem::directory_iterator(SALLYPORT_ADR_DIR)) {
    records.insert("ADR-" + file.path().filename().string().substr(0, 4));
  }
  for (const ToolEntry& entry : Allowlist::builtin().entries()) {
    EXPECT_THAT(records, testing::Contains(entry.decision_record)) << entry.name;
  }
}

TEST(BuiltinAllowlist, FixesTheHardeningOfEachTool_C28) {
  EXPECT_EQ(builtin_hardening("git"), "git");
  EXPECT_EQ(builtin_hardening("npm"), "npm");
  EXPECT_EQ(builtin_hardening("rg"), "rg");
  EXPECT_EQ(builtin_hardening("semgrep"), "semgrep");
  EXPECT_EQ(builtin_hardening("gitleaks"), "gitleaks");
  EXPECT_EQ(builtin_hardening("docker"), "docker");
  EXPECT_EQ(builtin_hardening("cat"), std::nullopt);
}

TEST(BuiltinAllowlist, CallsTheToolsOfAnotherSystemAndTheTracersOptional_C29) {
  const Allowlist& set = Allowlist::builtin();
  EXPECT_EQ(set.find("git")->need, Need::kMandatory);
  EXPECT_EQ(set.find("strace")->need, Need::kOptional);
  EXPECT_EQ(set.find("bwrap")->need, Need::kOptional);
  EXPECT_EQ(set.find("sandbox-exec")->need, Need::kOptional);
  EXPECT_EQ(set.find("sandbox-exec")->platform, Platform::kMacOs);
}

TEST(Admit, GivesTheEntryOfABareAllowlistedName_C2) {
  const Result<ToolEntry> entry = Allowlist::builtin().admit("git");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->name, "git");
  EXPECT_EQ(entry->decision_record, "ADR-0001");
}

TEST(Admit, RefusesWhatIsNotABareNameInTheSet_C2) {
  using namespace std::string_view_literals;
  for (const std::string_view tool : {""sv, "nmap"sv, "/usr/bin/git"sv, "./git"sv, "bin/git"sv, "git "sv, "GIT"sv,
                                      "ripgrep"sv, "git\0"sv, ".."sv, "--version"sv, "sh"sv, "g\xFFit"sv}) {
    const Result<ToolEntry> entry = Allowlist::builtin().admit(tool);
    ASSERT_FALSE(entry.has_value()) << tool;
    const auto* detail = entry.error().as<DisallowedSubprocessError>();
    ASSERT_NE(detail, nullptr) << tool;
    EXPECT_EQ(detail->tool, tool);
    EXPECT_FALSE(entry.error().hint.empty()) << tool;
  }
}

TEST(Admit, RefusesAWrapperAskedForAsTheTool_C4) {
  for (const std::string_view wrapper : {"bwrap", "sandbox-exec"}) {
    ASSERT_NE(Allowlist::builtin().find(wrapper), nullptr) << "a member all the same";
    const Result<ToolEntry> entry = Allowlist::builtin().admit(wrapper);
    ASSERT_FALSE(entry.has_value());
    EXPECT_NE(entry.error().as<DisallowedSubprocessError>(), nullptr);
    EXPECT_THAT(entry.error().message, testing::HasSubstr("wrapper"));
  }
}

TEST(Admit, SuggestsTheToolThatWasProbablyMeant) {
  EXPECT_THAT(hint_for("gti"), testing::HasSubstr("did you mean 'git'?"));
  EXPECT_THAT(hint_for("ripgrep"), testing::HasSubstr("did you mean 'rg'?"));
  EXPECT_THAT(hint_for("/usr/bin/git"), testing::HasSubstr("write 'git'"));
  EXPECT_THAT(hint_for("bwra"), testing::Not(testing::HasSubstr("bwrap"))) << "a wrapper is no suggestion";
}

TEST(CanonicalText, DiffersWheneverTheSetDiffersAndIgnoresItsOrder) {
  const ToolEntry a{
      .name = "a", .decision_record = "R", .reason = "r", .install_hint = {}, .sha256 = {}, .allowed_hosts = {}};
  ToolEntry b = a;
  b.name = "b";
  EXPECT_EQ(set_of({a, b}).canonical_text(), set_of({b, a}).canonical_text());
  EXPECT_NE(set_of({a}).canonical_text(), set_of({a, b}).canonical_text());
  ToolEntry forged = a;
  forged.reason = "r\nrole 4:tool";
  EXPECT_NE(set_of({a}).canonical_text(), set_of({forged}).canonical_text());
  ToolEntry online = a;
  online.allowed_hosts = {*parse_host_rule("h.test")};
  ToolEntry wider = a;
  wider.allowed_hosts = {*parse_host_rule("*.h.test")};
  EXPECT_NE(set_of({a}).canonical_text(), set_of({online}).canonical_text());
  EXPECT_NE(set_of({wider}).canonical_text(), set_of({online}).canonical_text());
}

TEST(SetOfAProgram, IsGovernedLikeAPolicyFile_C3) {
  const ToolEntry good{.name = "make", .decision_record = "R", .reason = "builds"};
  EXPECT_TRUE(Allowlist::of({good}).has_value());  // positive control
  const auto refused = [&](void (*spoil)(ToolEntry&)) {
    ToolEntry bad = good;
    spoil(bad);
    const Result<Allowlist> set = Allowlist::of({bad});
    return !set && set.error().as<InvalidRequest>() != nullptr;
  };
  EXPECT_TRUE(refused([](ToolEntry& e) { e.name = ""; }));
  EXPECT_TRUE(refused([](ToolEntry& e) { e.name = "/bin/sh"; }));
  EXPECT_TRUE(refused([](ToolEntry& e) { e.decision_record = " "; }));
  EXPECT_TRUE(refused([](ToolEntry& e) { e.reason = ""; }));
  EXPECT_TRUE(refused([](ToolEntry& e) { e.name = "bwrap"; })) << "a wrapper stays one (C4)";
  EXPECT_TRUE(refused([](ToolEntry& e) { e.name = "git"; })) << "its hardening cannot be left out (C28)";
  EXPECT_TRUE(refused([](ToolEntry& e) { e.hardening = "gti"; }));
  EXPECT_TRUE(refused([](ToolEntry& e) { e.sha256 = "AB"; }));
  EXPECT_FALSE(Allowlist::of({good, good}).has_value());
}

}  // namespace
}  // namespace sallyport
