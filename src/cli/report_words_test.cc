#include "cli/report_words.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "cli/validate_report.h"
#include "core/errors.h"

namespace sallyport::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// A report in which every text that can hold a hint holds one.
jobs::ValidateReport validation() {
  const Error refusal = invalid_request("jail", "x", "say `allow_unjailed`");
  jobs::Step step{.argv = {"npm", "ci"}, .refusal = refusal, .stdout_tail = "npm says `jail`"};
  step.denials = {{.host = "h.test", .hint = "`allowed_hosts` h.test"}};
  jobs::ValidateReport report{.verdict = jobs::Incomplete{.why = "fetch: x; say `allow_unjailed`"}};
  report.stages = {{.stage = jobs::StageId::kFetch,
                    .state = jobs::StageState::kIncomplete,
                    .why = "x; say `allow_unjailed`",
                    .steps = {step}}};
  report.rules = {{.id = "r", .summary = "s", .help = "name it with `lock_hosts`"}};
  report.cache.problem = "x; name another with `ValidateOptions::cache_dir`";
  report.changes_problem = "x; `WorkspaceMechanism::kCopy`";
  report.notes = {"x; `extra_ca`"};
  return report;
}

TEST(ReportWords, PutTheOptionsIntoEveryDocumentOfAValidation) {
  const jobs::ValidateReport raw = validation();
  ASSERT_THAT(validate_record(raw, jobs::Severity::kLow, 2).dump(), HasSubstr("`allowed_hosts`")) << "the control";
  const jobs::ValidateReport report = in_options(raw);
  const std::string record = validate_record(report, jobs::Severity::kLow, 2).dump();
  for (const char* option : {"--allow-host h.test", "say --allow-unjailed", "with --cache", "--copy", "--ca"}) {
    EXPECT_THAT(record, HasSubstr(option));
  }
  EXPECT_THAT(record, HasSubstr("npm says `jail`")) << "what a tool said stays";
  const std::string text = validate_text(report, jobs::Severity::kLow);
  EXPECT_THAT(text, HasSubstr("fetch: x; say --allow-unjailed"));
  EXPECT_THAT(text, HasSubstr("note: x; --ca"));
  EXPECT_THAT(jobs::validate_sarif(report, "1"), HasSubstr("name it with --lock-host"));
  EXPECT_EQ(std::ranges::count(text, '`'), 2) << "what npm said alone: " << text;
  EXPECT_THAT(jobs::validate_sarif(report, "1"), Not(HasSubstr("`")));
}

TEST(ReportWords, NameNoOptionWhereNoneHelps) {
  jobs::ValidateReport report = validation();
  report.stages.at(0).stage = jobs::StageId::kTest;
  EXPECT_EQ(in_options(report).stages.at(0).steps.at(0).denials.at(0).hint, "");
  EXPECT_EQ(in_options(validation()).stages.at(0).steps.at(0).denials.at(0).hint, "--allow-host h.test")
      << "the control";
}

TEST(ReportWords, PutTheOptionsIntoEveryDocumentOfAScan) {
  const jobs::Probe& probe = *jobs::probes().front();
  const jobs::ScannerFailed failure{.why = "x; say `allow_unjailed`"};
  jobs::ProbeReport raw{.results = {{.probe = &probe, .outcome = failure}}, .problem = "y; name `policy`"};
  ASSERT_THAT(jobs::sarif_report(raw, "1"), HasSubstr("`allow_unjailed`")) << "the control";
  const jobs::ProbeReport report = in_options(std::move(raw));
  EXPECT_EQ(report.problem, "y; name --policy");
  for (const std::string& document :
       {jobs::sarif_report(report, "1"), jobs::html_report(report, jobs::Severity::kLow, "repo"),
        jobs::why_of(report.results.at(0).outcome)}) {
    EXPECT_THAT(document, HasSubstr("--allow-unjailed"));
  }
  const jobs::LintReport lint = in_options(jobs::LintReport{.outcome = failure});
  EXPECT_EQ(jobs::why_of(lint.outcome), "x; say --allow-unjailed");
}

}  // namespace
}  // namespace sallyport::cli
