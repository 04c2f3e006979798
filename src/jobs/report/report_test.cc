#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "jobs/report/ast_grep.h"
#include "jobs/report/bounded_json.h"
#include "jobs/report/fingerprint.h"
#include "jobs/report/sarif.h"
#include "jobs/report/text.h"

namespace sallyport::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The vectors are those of the consumer that computes the hash itself.
TEST(LineHash, IsTheOneGitHubComputes) {
  EXPECT_THAT(line_hashes(""), ElementsAre("c129715d7a2bc9a3:1"));
  EXPECT_THAT(line_hashes(" a\nb\n  \t\tc\n d"),
              ElementsAre("271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"));
  EXPECT_THAT(line_hashes(" hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n"),
              ElementsAre("e9496ae3ebfced30:1", "fb7c023a8b9ccb3f:1", "ce8ba1a563dcdaca:1", "e20e36e16fcb0cc8:1",
                          "b3edc88f2938467e:1", "c8e28b0b4002a3a0:1", "c129715d7a2bc9a3:1"));
}

TEST(LineHash, CountsLinesThatLookTheSame) {
  std::string ten;
  for (int i = 0; i < 10; ++i) ten += "Lorem ipsum dolor sit amet.\n";
  EXPECT_THAT(line_hashes(ten),
              ElementsAre("a7f2ff13bc495cf2:1", "a7f2ff13bc495cf2:2", "a7f2ff13bc495cf2:3", "a7f2ff13bc495cf2:4",
                          "a7f2ff13bc495cf2:5", "a7f2ff13bc495cf2:6", "a7f2ff1481e87703:1", "a9cf91f7bbf1862b:1",
                          "55ec222b86bcae53:1", "cc97dc7b1d7d8f7b:1", "c129715d7a2bc9a3:1"));
}

TEST(BoundedJson, RefusesWhatIsCutOffTooDeepOrTooMuch) {
  EXPECT_TRUE(parse_bounded(R"({"a":[1,2,{"b":null}]})").has_value());
  EXPECT_FALSE(parse_bounded(R"({"a":[1,2,{"b")").has_value());
  EXPECT_FALSE(parse_bounded("garbage").has_value());
  EXPECT_FALSE(parse_bounded("").has_value());
  EXPECT_THAT(parse_bounded(std::string(1'000'000, '[')).error(), HasSubstr("deeper"));
  std::string many = "[1";
  for (std::size_t i = 0; i < kMostValues; ++i) many += ",1";
  EXPECT_THAT(parse_bounded(many + "]").error(), HasSubstr("values"));
}

TEST(Text, IsSafeForEachReader) {
  const std::string nasty = "<img src=x onerror=alert(1)>\n\x1b[31m\xE2\x80\xAE|\xff`";
  EXPECT_THAT(html(nasty), Not(HasSubstr("<")));
  EXPECT_THAT(html(nasty), HasSubstr("\\n\\x1b[31m\\u{202e}|\\xff"));
  EXPECT_THAT(markdown(nasty), Not(HasSubstr("<")));
  EXPECT_THAT(markdown(nasty), HasSubstr("\\|"));
  std::string json;
  append_json_string(json, nasty);
  EXPECT_FALSE(nlohmann::json::parse(json, nullptr, false).is_discarded()) << json;
  EXPECT_EQ(uri_of_path("a b/\xff%.py"), "a%20b/%FF%25.py");
}

TEST(Text, SecretsAreTakenOutOfATailAndWordsAreKept) {
  EXPECT_EQ(scrub_tokens("error: token ghp_16C7e42F292c6912E7710c838347Ae178B4a at line 12"),
            "error: token [redacted] at line 12");
  EXPECT_EQ(scrub_tokens("permission denied: src/main.cc"), "permission denied: src/main.cc");
}

TEST(Text, Base64IsDecodedOrRefused) {
  EXPECT_EQ(base64_decode("/y5weQ=="), "\xff.py");
  EXPECT_EQ(base64_decode("!!"), std::nullopt);
}

// As ast-grep 0.51 prints it.
constexpr std::string_view kMatch =
    R"json({"text":"os.system(\"ls\")","range":{"byteOffset":{"start":10,"end":25},)json"
    R"json("start":{"line":1,"column":0},"end":{"line":1,"column":15}},"file":"./a.py",)json"
    R"json("lines":"os.system(\"ls\")","charCount":{"leading":0,"trailing":0},"language":"Python",)json"
    R"json("metaVariables":{"single":{},"multi":{},"transformed":{}},"ruleId":"python-os-process",)json"
    R"json("severity":"error","note":null,"message":"m"})json";

TEST(AstGrepOutput, CountsLinesAndColumnsFromOne) {
  const auto matches = parse_ast_grep(std::string(kMatch) + "\n");
  ASSERT_TRUE(matches.has_value()) << matches.error();
  ASSERT_EQ(matches->size(), 1U);
  EXPECT_EQ(matches->front().rule, "python-os-process");
  EXPECT_EQ(matches->front().place, (Place{.path = "a.py", .line = 2, .column = 1, .end_line = 2, .end_column = 16}));
}

TEST(AstGrepOutput, IsNotUnderstoodWhenCutOffGarbageOrAnothersTool_C38) {
  EXPECT_TRUE(parse_ast_grep("").has_value());
  EXPECT_FALSE(parse_ast_grep(kMatch).has_value()) << "no end of line: cut off";
  EXPECT_FALSE(parse_ast_grep(std::string(kMatch.substr(0, 100)) + "\n").has_value());
  EXPECT_FALSE(parse_ast_grep("Segmentation fault\n").has_value());
  EXPECT_FALSE(parse_ast_grep("{\"type\":\"match\",\"data\":{}}\n").has_value()) << "ripgrep's";
}

TEST(AstGrepOutput, SaysHowManyFilesItLookedAt) {
  const auto summary = parse_ast_grep_summary(
      "sg: summary|project: isProject=true,projectDir=/dev\nsg: summary|file: "
      "scannedFileCount=11,skippedFileCount=3\n");
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->scanned, 11U);
  EXPECT_EQ(summary->skipped, 3U);
  EXPECT_FALSE(parse_ast_grep_summary("").has_value());
}

TEST(AstGrepRules, EachHasATextForPeople) {
  EXPECT_GE(ast_grep_rules().size(), 20U);
  for (const RuleInfo& rule : ast_grep_rules()) {
    EXPECT_FALSE(rule.id.empty());
    EXPECT_FALSE(rule.summary.empty()) << rule.id;
    EXPECT_FALSE(rule.help.empty()) << rule.id;
  }
}

TEST(Sarif, IsWhatItsConsumersTakeAndReadsBackAsABaseline) {
  Ran ran;
  ran.findings.push_back({.rule = "r",
                          .severity = Severity::kHigh,
                          .message = "a \"quoted\" message",
                          .place = {.path = "dir/a b.py", .line = 3, .column = 5, .end_line = 3, .end_column = 9},
                          .fingerprint = "abc:1",
                          .suppression = Suppression{.justification = "because"}});
  ran.invocations.push_back({.argv = {"x"}, .exit_code = 1});
  const ScannerOutcome outcome = ran;
  const ScannerOutcome broken = ScannerFailed{.why = "ended by signal 11"};
  const std::vector<RuleInfo> rules{{.id = "r", .severity = Severity::kHigh, .summary = "s", .help = "h"}};
  const std::string text = sarif(
      std::vector<SarifRun>{{"one", "sallyport/one", rules, &outcome}, {"two", "sallyport/two", {}, &broken}}, "1.0");
  const auto document = nlohmann::json::parse(text, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << text;
  const auto& result = document["runs"][0]["results"][0];
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "dir/a%20b.py");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startColumn"], 5);
  EXPECT_EQ(result["partialFingerprints"]["primaryLocationLineHash"], "abc:1");
  EXPECT_EQ(result["suppressions"][0]["justification"], "because");
  EXPECT_EQ(document["runs"][0]["invocations"][0]["executionSuccessful"], true);
  EXPECT_EQ(document["runs"][1]["invocations"][0]["executionSuccessful"], false);
  const auto baseline = read_baseline(text, "one");
  ASSERT_TRUE(baseline.has_value());
  ASSERT_EQ(baseline->size(), 1U);
  EXPECT_EQ(baseline->front().fingerprint, "abc:1");
  EXPECT_FALSE(read_baseline("{}", "one").has_value());
}

}  // namespace
}  // namespace sallyport::jobs
