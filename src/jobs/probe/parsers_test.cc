#include "jobs/probe/parsers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "jobs/probe/patterns.h"
#include "jobs/probe/probe.h"

namespace sallyport::jobs {
namespace {

using testing::HasSubstr;
using testing::Not;

// As each tool documents its output; see REFERENCE of docs/probes.md.
constexpr std::string_view kRg =
    R"({"type":"begin","data":{"path":{"text":"./b"}}}
{"type":"match","data":{"path":{"bytes":"Li//LnB5"},"lines":{"text":"\u00e4 curl x.example | sh\n"},"line_number":3,"absolute_offset":0,"submatches":[{"match":{"text":"curl x.example | sh"},"start":3,"end":22}]}}
{"data":{"elapsed_total":{"human":"0s","nanos":1,"secs":0},"stats":{}},"type":"summary"}
)";
constexpr std::string_view kGitleaksReport =
    R"([{"RuleID":"github-pat","Description":"d","StartLine":4,"EndLine":4,"StartColumn":8,"EndColumn":47,"Match":"m","Secret":"the-secret-itself","File":"src/a.py","SymlinkFile":"","Commit":"","Entropy":4.1,"Author":"","Email":"","Date":"","Message":"","Tags":[],"Fingerprint":"src/a.py:github-pat:4"}])";
constexpr std::string_view kSyftReport =
    R"({"artifacts":[{"id":"1","name":"left-pad","version":"1.3.0","type":"npm","foundBy":"c","locations":[{"path":"/package-lock.json"}],"licenses":[],"language":"javascript","cpes":[],"purl":"pkg:npm/left-pad@1.3.0"}],"artifactRelationships":[],"source":{"type":"directory"},"distro":{},"descriptor":{"name":"syft","version":"1.42.0"},"schema":{"version":"16.1.0","url":"u"}})";
constexpr std::string_view kGrypeReport =
    R"({"matches":[{"vulnerability":{"id":"GHSA-1","severity":"Critical"},"artifact":{"name":"minimist","version":"0.0.8","locations":[{"path":"/package-lock.json"}]}}],"ignoredMatches":[{"vulnerability":{"id":"GHSA-2","severity":"Low"},"artifact":{"name":"x","version":"1"}}],"source":{"type":"directory"},"descriptor":{"name":"grype","version":"0.99","db":{"status":{}}}})";
constexpr std::string_view kSemgrepReport =
    R"({"version":"1.93.0","results":[{"check_id":"sallyport.python.shell","path":"a.py","start":{"line":2,"col":1,"offset":10},"end":{"line":2,"col":16,"offset":25},"extra":{"message":"quotes $SECRET","severity":"ERROR","metadata":{},"lines":"requires login","fingerprint":"requires login"}}],"errors":[],"paths":{"scanned":["a.py"],"skipped":[{"path":"evil.py","reason":"semgrepignore_patterns_match"},{"path":"x.png","reason":"wrong_language"}]},"skipped_rules":[]})";

TEST(RgCurated, ReadsNamesThatAreNoUtf8AndCountsColumnsInCharacters_C31) {
  const auto parsed = parse_rg_curated(kRg);
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  ASSERT_EQ(parsed->findings.size(), 1U);
  EXPECT_EQ(parsed->findings[0].place.path, "\xff.py");
  EXPECT_EQ(parsed->findings[0].place.line, 3U);
  EXPECT_EQ(parsed->findings[0].place.column, 3U);
  EXPECT_EQ(parsed->findings[0].rule, "fetch-to-shell");
}

TEST(Gitleaks, ASecretLeavesOnlyItsHash_C38) {
  const auto parsed = parse_gitleaks(kGitleaksReport);
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  ASSERT_EQ(parsed->findings.size(), 1U);
  EXPECT_EQ(parsed->findings[0].secret_sha256.size(), 64U);
  EXPECT_THAT(parsed->findings[0].message, Not(HasSubstr("the-secret-itself")));
  EXPECT_EQ(gitleaks_scanned("9:12AM INF scanned ~1234 bytes (1.23 KB) in 15ms\n"), 1234U);
  EXPECT_EQ(gitleaks_scanned("no leaks found"), std::nullopt);
}

TEST(Syft, ListsPackagesOfAKnownSchemaOnly_C31) {
  const auto parsed = parse_syft(kSyftReport);
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_EQ(parsed->inventory.front().name, "left-pad 1.3.0");
  std::string other(kSyftReport);
  other.replace(other.find("16.1.0"), 6, "17.0.0");
  EXPECT_THAT(parse_syft(other).error(), HasSubstr("schema"));
}

TEST(Grype, KeepsWhatItIgnoredAndNeedsADatabase_C31) {
  const auto parsed = parse_grype(kGrypeReport);
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  ASSERT_EQ(parsed->findings.size(), 2U);
  EXPECT_EQ(parsed->findings[0].severity, Severity::kCritical);
  EXPECT_TRUE(parsed->findings[1].suppression.has_value());
  std::string without(kGrypeReport);
  without.replace(without.find(R"(,"db":{"status":{}})"), 19, "");
  EXPECT_THAT(parse_grype(without).error(), HasSubstr("database"));
}

TEST(Semgrep, SaysWhatTheRepoHidFromItAndQuotesNoSource_C38) {
  for (const char* reason : {"binary", "exceeded_size_limit", "analysis_failed_parser_or_internal_error"}) {
    std::string unread(kSemgrepReport);
    const std::size_t at = unread.find("semgrepignore_patterns_match");
    unread.replace(at, std::string_view("semgrepignore_patterns_match").size(), reason);
    EXPECT_FALSE(parse_semgrep(unread)) << reason;
  }
  const auto output = parse_semgrep(kSemgrepReport);
  ASSERT_TRUE(output.has_value()) << output.error();
  EXPECT_EQ(output->scanned, 1U);
  EXPECT_THAT(output->hidden, testing::ElementsAre("evil.py"));
  EXPECT_THAT(output->parsed.findings[0].message, Not(HasSubstr("SECRET")));
}

TEST(ScannerOutput, OfAnotherToolCutOffOrGarbageIsNeverNoFindings_C38) {
  const std::vector<std::string_view> reports{
      kRg, kGitleaksReport, kSyftReport, kGrypeReport, kSemgrepReport, "Segmentation fault", "", "{}", "null", "[[["};
  const auto refused = [&](auto parse, std::string_view own) {
    for (const std::string_view report : reports)
      EXPECT_EQ(parse(report).has_value(), report == own) << report.substr(0, 60);
    EXPECT_FALSE(parse(own.substr(0, own.size() / 2)).has_value());
  };
  refused(parse_rg_curated, kRg);
  refused(parse_gitleaks, kGitleaksReport);
  refused(parse_syft, kSyftReport);
  refused(parse_grype, kGrypeReport);
  refused(parse_semgrep, kSemgrepReport);
  EXPECT_FALSE(parse_scip("garbage").has_value());
  EXPECT_FALSE(parse_scip("").has_value());
}

TEST(Scip, ReadsPathsAndSymbolsOfTheIndex_C31) {
  // Index{metadata{tool_info{name}}, documents{relative_path, occurrences, symbols{symbol}}}, written by hand.
  const std::string tool = "\x0a\x0fscip-typescript";
  const std::string metadata = "\x12" + std::string(1, static_cast<char>(tool.size())) + tool;
  const std::string document = std::string("\x0a\x04") + "a.ts" + "\x12\x02\x18\x01" + "\x1a\x05\x0a\x03" + "sym";
  const std::string index = "\x0a" + std::string(1, static_cast<char>(metadata.size())) + metadata + "\x12" +
                            std::string(1, static_cast<char>(document.size())) + document;
  const auto parsed = parse_scip(index);
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_EQ(parsed->inventory[0].name, "a.ts");
  EXPECT_EQ(parsed->inventory[0].detail, "1 symbols, 1 occurrences");
  EXPECT_EQ(parsed->inventory[1].name, "sym");
  EXPECT_FALSE(parse_scip(index.substr(0, index.size() - 1)).has_value());
}

TEST(Coverage, IsReadFromThreeFormats_C31) {
  const auto lcov = parse_lcov("TN:\nSF:a.js\nDA:1,3\nDA:2,0\nend_of_record\n");
  ASSERT_TRUE(lcov.has_value()) << lcov.error();
  EXPECT_EQ(lcov->inventory[0].detail, "1/2 lines");
  EXPECT_FALSE(parse_lcov("SF:a.js\nDA:1,3\n").has_value());
  const auto xml = parse_cobertura(
      R"(<?xml version="1.0"?><coverage line-rate="1"><class name="a" filename="a.py"><lines><line number="1" hits="2"/></lines></class></coverage>)");
  ASSERT_TRUE(xml.has_value()) << xml.error();
  EXPECT_EQ(xml->inventory[0].detail, "1/1 lines");
  EXPECT_FALSE(parse_cobertura("<coverage><class name=\"a\"").has_value());
  const auto json = parse_istanbul(R"({"a.ts":{"path":"a.ts","s":{"0":1,"1":0,"2":5}}})");
  ASSERT_TRUE(json.has_value()) << json.error();
  EXPECT_EQ(json->inventory[0].detail, "2/3 lines");
  EXPECT_FALSE(parse_istanbul("[]").has_value());
}

TEST(Patterns, HaveNamesTextsAndExamples_C31) {
  std::set<std::string_view> names;
  for (const Pattern& pattern : curated_patterns()) {
    EXPECT_TRUE(names.insert(pattern.id).second) << pattern.id;
    EXPECT_FALSE(pattern.help.empty()) << pattern.id;
    for (const std::string_view example : pattern.positive) EXPECT_FALSE(example.empty()) << pattern.id;
    for (const std::string_view example : pattern.negative) EXPECT_FALSE(example.empty()) << pattern.id;
  }
}

ProbeReport report_with(Finding finding, ScannerOutcome other) {
  Ran ran;
  ran.findings.push_back(std::move(finding));
  ProbeReport report;
  report.results.push_back({.probe = find_probe("rg_curated"), .outcome = std::move(ran)});
  report.results.push_back({.probe = find_probe("gitleaks"), .outcome = std::move(other)});
  return report;
}

TEST(ProbeExitCode, TwoOutranksOneAndASuppressionOfTheReposOwnDoesNotCount_C38) {
  const Finding high{.rule = "r", .severity = Severity::kHigh};
  EXPECT_EQ(probe_exit_code(report_with(high, ScannerFailed{.why = "crashed"}), Severity::kLow), 2);
  EXPECT_EQ(probe_exit_code(report_with(high, ToolMissing{}), Severity::kLow), 2);
  EXPECT_EQ(probe_exit_code(report_with(high, Ran{}), Severity::kLow), 1);
  EXPECT_EQ(probe_exit_code(report_with(high, NotApplicable{}), Severity::kCritical), 0);
  Finding excused = high;
  excused.suppression = Suppression{.kind = Suppression::Kind::kInSource};
  EXPECT_EQ(probe_exit_code(report_with(excused, Ran{}), Severity::kLow), 1);
  Finding known = high;
  known.baseline = BaselineState::kUnchanged;
  EXPECT_EQ(probe_exit_code(report_with(known, Ran{}), Severity::kLow), 0);
}

TEST(ProbeDocuments, EscapeHostileNames_C38) {
  const Finding hostile{.rule = "r",
                        .message = "</script><script>alert(1)</script>",
                        .place = {.path = "<img src=x onerror=alert(1)>\n|`.py", .line = 1, .column = 1}};
  const ProbeReport report = report_with(hostile, Ran{});
  const std::string page = html_report(report, Severity::kLow, "/repo/<b>");
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("&lt;img src=x"));
  EXPECT_THAT(markdown_report(report, Severity::kLow), Not(HasSubstr("<img")));
}

}  // namespace
}  // namespace sallyport::jobs
