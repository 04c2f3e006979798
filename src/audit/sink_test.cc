// The records themselves: what they contain, and what they never contain.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "audit/test_log.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "sallyport/audit.h"

namespace sallyport::audit {
namespace {

class SinkTest : public LogTest {
 protected:
  SinkTest() : sink_(*open_audit_log({.directory = place(), .label = "test"})) {}

  [[nodiscard]] JailedSubprocessSpec spec(std::vector<std::string> argv) const {
    return {.argv = std::move(argv),
            .repo = dir_.path(),
            .cwd = dir_.path(),
            .env_extras = {{"MY_TOKEN", "env-secret-77"}}};
  }
  [[nodiscard]] std::vector<Json> records() const {
    std::vector<Json> out;
    std::ifstream lines(first_file());
    for (std::string line; std::getline(lines, line);) out.push_back(Json::parse(line));
    return out;
  }

  std::unique_ptr<AuditSink> sink_;
};

TEST_F(SinkTest, C33_a_call_leaves_an_intent_and_a_result_under_one_id) {
  const JailedSubprocessSpec call = spec({"git", "status"});
  const std::string run = *sink_->begin({.spec = call, .policy_digest = "abc"});
  JailedSubprocessResult result{.outcome = Completed{.fate = ExitCode{.value = 3}}};
  result.stdout_stream = {.bytes = "hello", .truncated = false, .total_bytes = 5};
  result.denials.push_back({.host = "evil.example", .port = 443, .reason = DenialReason::kHostNotAllowed});
  ASSERT_TRUE(
      sink_->end(run, {.spec = call, .policy_digest = "abc"}, Result<JailedSubprocessResult>(std::move(result))));
  const std::vector<Json> all = records();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["kind"], "intent");
  EXPECT_EQ(all[0]["request"]["argv"], Json::array({"git", "status"}));
  EXPECT_EQ(all[0]["request"]["env"], Json::array({"MY_TOKEN"}));
  EXPECT_EQ(all[0]["label"], "test");
  EXPECT_EQ(all[1]["kind"], "result");
  EXPECT_EQ(all[1]["run"], all[0]["run"]);
  EXPECT_EQ(all[1]["outcome"]["exit_code"], 3);
  EXPECT_EQ(all[1]["stdout"]["sha256"], "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  EXPECT_EQ(all[1]["denials"][0]["host"], "evil.example");
  EXPECT_FALSE(verify().problem) << why(verify());
}

TEST_F(SinkTest, C33_a_refusal_is_a_record_with_its_reason) {
  const JailedSubprocessSpec call = spec({"bash", "-c", "true"});
  const std::string run = *sink_->begin({.spec = call});
  const Result<JailedSubprocessResult> refused = fail(disallowed_subprocess("bash", "not in the allowlist", "none"));
  ASSERT_TRUE(sink_->end(run, {.spec = call}, refused));
  ASSERT_TRUE(sink_->refused({.spec = call}, refused.error()));
  const std::vector<Json> all = records();
  ASSERT_EQ(all.size(), 3U);
  for (const std::size_t i : {1, 2}) {
    EXPECT_EQ(all[i]["kind"], "refusal");
    EXPECT_EQ(all[i]["error"]["kind"], "disallowed_subprocess");
  }
  EXPECT_EQ(all[2]["request"]["argv"][0], "bash");
}

TEST_F(SinkTest, C33_no_secret_of_a_command_reaches_any_part_of_a_record) {
  constexpr std::string_view kSecret = "s3cr3t-value-99";
  const JailedSubprocessSpec call = spec(
      {"npm", "install", "--password", std::string(kSecret), "https://u:" + std::string(kSecret) + "@host.example/x"});
  const std::string run = *sink_->begin({.spec = call});
  const Result<JailedSubprocessResult> refused =
      fail(invalid_request("argv", "refused '" + std::string(kSecret) + "'", "leave " + std::string(kSecret) + " out"));
  ASSERT_TRUE(sink_->end(run, {.spec = call}, refused));
  const std::string log = read(first_file());
  EXPECT_EQ(log.find(kSecret), std::string::npos) << log;
  EXPECT_EQ(log.find("env-secret-77"), std::string::npos);
  EXPECT_NE(log.find("host.example"), std::string::npos);  // the control: the record has what is no secret
}

TEST_F(SinkTest, C33_hostile_text_stays_one_short_line_of_ascii) {
  std::vector<std::string> hostile = {"git",
                                      "\x1b]0;title\x07\x1b[2J",
                                      "\xe2\x80\xae"
                                      "bidi\xe2\x80\xa8line\xc2\x85",
                                      std::string("\xff\xfe\x00 bytes", 9),
                                      "</script><script>alert(1)</script>",
                                      "a\nb\r\nc",
                                      std::string(1 << 20, 'n')};
  for (int i = 0; i < 500; ++i) hostile.push_back(std::string(4000, '\x01'));
  JailedSubprocessSpec call = spec(std::move(hostile));
  call.extra_read_only.assign(300, std::string(4000, '\x7f'));
  const std::string run = *sink_->begin({.spec = call});
  JailedSubprocessResult result{.outcome = NetworkDenied{.host = std::string(1 << 20, '\x1b'), .port = 1}};
  for (int i = 0; i < 1000; ++i)
    result.denials.push_back({.host = std::string(3000, '\x02'), .port = 1, .reason = DenialReason::kNotTcp});
  ASSERT_TRUE(sink_->end(run, {.spec = call}, Result<JailedSubprocessResult>(std::move(result))));
  const std::string log = read(first_file());
  EXPECT_EQ(std::ranges::count(log, '\n'), 2);
  EXPECT_TRUE(std::ranges::all_of(log, [](char c) { return c == '\n' || (c >= ' ' && c < '\x7f'); }));
  EXPECT_LT(log.size(), 2 * kLongestRecord);
  for (const Json& record : records()) EXPECT_TRUE(record.is_object());
  EXPECT_FALSE(verify().problem) << why(verify());
}

TEST_F(SinkTest, C33_says_which_commit_and_which_job_a_call_is_of) {
  const JailedSubprocessSpec call = spec({"git"});
  const std::string job(32, '7');
  ASSERT_TRUE(sink_->begin({.spec = call, .job = job, .commit = std::string(40, 'a')}));
  EXPECT_EQ(records().back()["request"]["commit"], std::string(40, 'a'));
  EXPECT_EQ(records().back()["job"], job);
  ASSERT_TRUE(sink_->begin({.spec = call}));
  EXPECT_TRUE(records().back()["request"]["commit"].is_null());
  EXPECT_TRUE(records().back()["job"].is_null());
}

TEST_F(SinkTest, C33_the_end_of_a_job_is_a_record_under_the_jobs_id) {
  AuditJob job{.id = std::string(32, '7'),
               .name = "validate",
               .repo = dir_.path(),
               .commit = std::string(40, 'a'),
               .result = JobResult::kFailed,
               .verdict = "denied",
               .settings = {{"severity", "high"}},
               .steps = {{.name = "lock", .result = JobResult::kPassed}},
               .outputs = {{.name = "out.sarif", .sha256 = std::string(64, 'c')}}};
  for (int i = 0; i < 100; ++i) job.steps.push_back({.name = std::string(1 << 16, '\x1b'), .why = "\xff</script>\n"});
  ASSERT_TRUE(sink_->job_ended(job));
  const Json record = records().back();
  EXPECT_EQ(record["kind"], "job");
  EXPECT_EQ(record["run"], job.id);
  EXPECT_EQ(record["result"], "failed");
  EXPECT_EQ(record["steps"][0]["result"], "passed");
  EXPECT_EQ(record["outputs"][0]["sha256"], std::string(64, 'c'));
  const std::string log = read(first_file());
  EXPECT_TRUE(std::ranges::all_of(log, [](char c) { return c == '\n' || (c >= ' ' && c < '\x7f'); }));
  EXPECT_LT(log.size(), kLongestRecord);
  EXPECT_FALSE(verify().problem) << why(verify());
  EXPECT_EQ(verify().jobs, 1U);
}

}  // namespace
}  // namespace sallyport::audit
