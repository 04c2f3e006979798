#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "core/text/utf8.h"
#include "sallyport/allowlist.h"

namespace sallyport {
namespace {

using testing::HasSubstr;

constexpr std::string_view kHead = "schema = \"sallyport.policy/1\"\n";

Result<Allowlist> parse(std::string_view rest) {
  return Allowlist::from_policy(std::string(kHead) + std::string(rest), "p.toml");
}

struct BadPolicy {
  const char* what;
  const char* text;  // after the head, so its first line is line 2
  unsigned line;
  unsigned column;
  const char* message;
};

TEST(Policy, DefinesAnotherClosedSet_C3) {
  const Result<Allowlist> set = parse(R"(
[[tool]]
name = "git"
decision_record = "SEC-12"
reason = "history"
[[tool]]
name = "cmake"
decision_record = "SEC-13"
reason = "builds"
install_hint = "apt-get install cmake"
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
allow_hosts = ["Mirror.example.", "registry.test:4873=127.0.0.1:4873", "*.b\u00fccher.example,down=1G"]
)");
  ASSERT_TRUE(set.has_value()) << set.error().message;
  ASSERT_EQ(set->entries().size(), 2U);
  EXPECT_TRUE(set->admit("cmake").has_value());
  EXPECT_FALSE(set->admit("node").has_value()) << "the built-in set is replaced, not widened";
  EXPECT_EQ(set->find("git")->hardening, "git") << "built-in hardening stays on (C28)";
  EXPECT_EQ(set->find("cmake")->hardening, kNoHardening);
  EXPECT_THAT(
      set->find("cmake")->allowed_hosts,
      testing::ElementsAre(
          HostRule::of({.name = "mirror.example"}).value(),
          HostRule::of({.name = "registry.test", .port = 4873, .target = HostTarget{"127.0.0.1", 4873}}).value(),
          HostRule::of({.name = "xn--bcher-kva.example", .any_subdomain = true, .max_down = ByteCount{1U << 30}})
              .value()));
  EXPECT_TRUE(set->find("git")->allowed_hosts.empty()) << "no network (C24)";
  EXPECT_TRUE(set->find("cmake")->sha256.has_value());
}

TEST(Policy, WithoutToolsAdmitsNothing_C3) {
  const Result<Allowlist> set = parse("");
  ASSERT_TRUE(set.has_value());
  EXPECT_TRUE(set->entries().empty());
  EXPECT_FALSE(set->admit("git").has_value());
}

TEST(Policy, MayHoldWrappersOnlyAsWrappers_C4) {
  const Result<Allowlist> set =
      parse("[[tool]]\nname = \"bwrap\"\ndecision_record = \"R\"\nreason = \"r\"\nrole = \"wrapper\"\n");
  ASSERT_TRUE(set.has_value());
  EXPECT_FALSE(set->admit("bwrap").has_value());
}

class PolicyRefusal : public testing::TestWithParam<BadPolicy> {};

TEST_P(PolicyRefusal, NamesLineAndColumn_C3) {
  const Result<Allowlist> set = parse(GetParam().text);
  ASSERT_FALSE(set.has_value()) << GetParam().what;
  const auto* detail = set.error().as<PolicyError>();
  ASSERT_NE(detail, nullptr);
  EXPECT_EQ(detail->file, "p.toml");
  EXPECT_EQ(detail->line, GetParam().line) << set.error().message;
  EXPECT_EQ(detail->column, GetParam().column) << set.error().message;
  EXPECT_THAT(set.error().message, HasSubstr(GetParam().message));
  EXPECT_FALSE(set.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Policies, PolicyRefusal,
    testing::Values(
        BadPolicy{"syntax", "x = = 1\n", 2, 5, ""},
        BadPolicy{"unknown top key", "tools = []\n", 2, 1, "unknown key 'tools'"},
        BadPolicy{"tool is no array", "tool = 1\n", 2, 8, "array of tables"},
        BadPolicy{"no decision record", "[[tool]]\nname = \"a\"\nreason = \"r\"\n", 2, 1, "decision_record"},
        BadPolicy{"no reason", "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\n", 2, 1, "'reason' is missing"},
        BadPolicy{"blank reason", "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"  \"\n", 5, 10, "blank"},
        BadPolicy{"path as name", "[[tool]]\nname = \"/bin/sh\"\ndecision_record = \"R\"\nreason = \"r\"\n", 3, 8,
                  "not a tool name"},
        BadPolicy{"option as name", "[[tool]]\nname = \"-c\"\ndecision_record = \"R\"\nreason = \"r\"\n", 3, 8,
                  "not a tool name"},
        BadPolicy{"dot dot", "[[tool]]\nname = \"..\"\ndecision_record = \"R\"\nreason = \"r\"\n", 3, 8,
                  "not a tool name"},
        BadPolicy{"wrong type", "[[tool]]\nname = 7\n", 3, 8, "must be a string"},
        BadPolicy{"unknown key", "[[tool]]\nname = \"a\"\nreasn = \"r\"\n", 4, 1, "unknown key 'reasn'"},
        BadPolicy{"unknown role", "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nrole = \"x\"\n", 6,
                  8, "unknown role"},
        BadPolicy{"wrapper as tool", "[[tool]]\nname = \"bwrap\"\ndecision_record = \"R\"\nreason = \"r\"\n", 3, 8,
                  "only be a wrapper"},
        BadPolicy{"hardening off",
                  "[[tool]]\nname = \"git\"\ndecision_record = \"R\"\nreason = \"r\"\nhardening = \"none\"\n", 6, 13,
                  "cannot be changed"},
        BadPolicy{"bad digest", "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nsha256 = \"AB\"\n", 6,
                  10, "not a digest"},
        BadPolicy{"hosts no array",
                  "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nallow_hosts = \"h\"\n", 6, 15,
                  "must be an array"},
        BadPolicy{"host no text",
                  "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nallow_hosts = [\"h.test\", 1]\n", 6,
                  26, "must be a string"},
        BadPolicy{"host blank",
                  "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nallow_hosts = [\n  \"\"]\n", 7, 3,
                  "invalid host rule ''"},
        BadPolicy{"host address",
                  "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nallow_hosts = [\"10.1\"]\n", 6, 16,
                  "an IP address, not a name"},
        BadPolicy{"host of the jail",
                  "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nallow_hosts = [\"localhost:80\"]\n",
                  6, 16, "the jail's own loopback"},
        BadPolicy{"host too wide",
                  "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nallow_hosts = [\"*.com\"]\n", 6, 16,
                  "too wide"},
        BadPolicy{"host name wrong",
                  "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nallow_hosts = [\"a..b\"]\n", 6, 16,
                  "a label is empty"},
        BadPolicy{"host size wrong",
                  "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nallow_hosts = [\"a.b,up=x\"]\n", 6,
                  16, "is not a size"},
        BadPolicy{
            "host twice",
            "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\nallow_hosts = [\"h.test\", \"H.test\"]\n",
            6, 26, "'h.test' is listed twice"},
        BadPolicy{"twice",
                  "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\n"
                  "[[tool]]\nname = \"a\"\ndecision_record = \"R\"\nreason = \"r\"\n",
                  7, 8, "listed twice"}),
    [](const auto& test) {
      std::string name = test.param.what;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

TEST(Policy, NeedsItsSchema) {
  EXPECT_FALSE(Allowlist::from_policy("", "p.toml").has_value());
  EXPECT_FALSE(Allowlist::from_policy("schema = \"sallyport.policy/2\"\n", "p.toml").has_value());
}

RC_GTEST_PROP(Policy, AnyTextIsASetOrOneError, (const std::string& text)) {
  for (const std::string& policy : {text, std::string(kHead) + text}) {
    const Result<Allowlist> set = Allowlist::from_policy(policy, "p.toml");
    if (set) continue;
    RC_ASSERT(set.error().as<PolicyError>() != nullptr);
    RC_ASSERT(is_valid_utf8(set.error().message));
    RC_ASSERT(set.error().message.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace sallyport
