#include "core/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <nlohmann/json.hpp>

#include "core/errors.h"
#include "core/text/utf8.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;

JailedSubprocessResult result_of(Outcome outcome) {
  JailedSubprocessResult result;
  result.outcome = std::move(outcome);
  result.stdout_stream = {.bytes = "hello\n", .truncated = false, .total_bytes = 6};
  result.stderr_stream = {.bytes = "\xff\x00", .truncated = true, .total_bytes = 9};
  result.duration = 1500us;
  result.usage = {.user = 2ms, .system = 500us, .peak_rss_bytes = 4096};
  result.receipt.jail = JailKind::kNone;
  result.receipt.established = {{.guarantee = Guarantee::kExecPinned, .mechanism = Mechanism::kDescriptor}};
  result.git_findings = {{.path = "/r/.git/hooks/x", .what = "a hook", .action = "removed"}};
  result.denials = {{.host = "evil.example",
                     .port = 443,
                     .reason = DenialReason::kHostNotAllowed,
                     .count = 2,
                     .time = std::chrono::system_clock::time_point(1500ms),
                     .hint = "--allow-host evil.example"}};
  return result;
}

TEST(RunRecord, HasTheDocumentedShape_C20_C26) {
  const Json record = run_record(result_of(Completed{.fate = ExitCode{3}}));
  EXPECT_EQ(record.begin().key(), "schema");
  EXPECT_EQ(record["schema"], "sallyport.run/1");
  EXPECT_EQ(record["outcome"], "completed");
  EXPECT_EQ(record["exit_code"], 3);
  EXPECT_FALSE(record.contains("signal"));
  EXPECT_EQ(record["stdout"], "hello\n");
  EXPECT_EQ(record["encoding"]["stdout"], "utf-8");
  EXPECT_EQ(record["stderr"], "/w==");
  EXPECT_EQ(record["encoding"]["stderr"], "base64");
  EXPECT_EQ(record["truncated"]["stdout"], false);
  EXPECT_EQ(record["truncated"]["stderr"], true);
  EXPECT_EQ(record["duration_ms"], 1.5);
  EXPECT_EQ(record["usage"]["user_ms"], 2.0);
  EXPECT_EQ(record["usage"]["peak_rss_bytes"], 4096);
  EXPECT_EQ(record["receipt"]["jail"], "none");
  EXPECT_EQ(record["receipt"]["guarantees"][0]["name"], "exec.pinned");
  EXPECT_EQ(record["receipt"]["guarantees"][0]["mechanism"], "descriptor");
  EXPECT_EQ(record["git_findings"][0], (Json{{"path", "/r/.git/hooks/x"}, {"what", "a hook"}, {"action", "removed"}}));
  EXPECT_EQ(record["denials"][0], (Json{{"host", "evil.example"},
                                        {"port", 443},
                                        {"reason", "host not allowed"},
                                        {"hint", "--allow-host evil.example"},
                                        {"count", 2},
                                        {"time_ms", 1500}}));
}

TEST(RunRecord, CarriesTheEvidenceOfEachOutcome_C20) {
  const auto evidence = [](Outcome outcome) { return run_record(result_of(std::move(outcome))); };
  EXPECT_EQ(evidence(Completed{.fate = Signal{9}})["signal"], 9);
  const Json timed_out = evidence(TimedOut{.elapsed = 1100ms, .limit = 1s});
  EXPECT_EQ(timed_out["outcome"], "timed_out");
  EXPECT_EQ(timed_out["evidence"], (Json{{"elapsed_ms", 1100}, {"limit_ms", 1000}}));
  EXPECT_FALSE(timed_out.contains("exit_code"));
  EXPECT_EQ(evidence(OomKilled{.oom_kills = 1, .limit_bytes = 2})["outcome"], "oom_killed");
  EXPECT_EQ(evidence(OomKilled{.oom_kills = 1, .limit_bytes = 2})["evidence"]["oom_kills"], 1);
  EXPECT_FALSE(evidence(OomKilled{.oom_kills = 1, .limit_bytes = 2}).contains("exit_code"));
  EXPECT_EQ(evidence(OomKilled{.oom_kills = 1, .limit_bytes = 2, .fate = ExitCode{0}})["exit_code"], 0);
  EXPECT_EQ(evidence(OomKilled{.oom_kills = 1, .limit_bytes = 2, .fate = Signal{9}})["signal"], 9);
  EXPECT_EQ(evidence(NetworkDenied{.host = "h", .port = 80})["outcome"], "network_denied");
  EXPECT_EQ(evidence(NetworkDenied{.host = "h", .port = 80})["evidence"]["port"], 80);
  const Json disk = evidence(DiskQuotaExceeded{.bytes_used = 5, .quota_bytes = 4, .files_used = 3, .quota_files = 2});
  EXPECT_EQ(disk["outcome"], "disk_quota_exceeded");
  EXPECT_EQ(disk["evidence"], (Json{{"bytes_used", 5}, {"quota_bytes", 4}, {"files_used", 3}, {"quota_files", 2}}));
  EXPECT_EQ(evidence(Cancelled{.elapsed = 5ms})["evidence"]["elapsed_ms"], 5);
}

TEST(ErrorRecord, NamesTheKindAndItsFields) {
  const Json record = error_record(policy_error("p.toml", 3, 7, "unknown key", "remove it"));
  EXPECT_EQ(record["schema"], "sallyport.error/1");
  EXPECT_EQ(record["error"]["kind"], "policy_error");
  EXPECT_EQ(record["error"]["line"], 3);
  EXPECT_EQ(record["error"]["column"], 7);
  EXPECT_EQ(record["error"]["hint"], "remove it");
  EXPECT_EQ(error_record(guarantee_unavailable(Guarantee::kNetIsolated, "x"))["error"]["guarantee"], "net.isolated");
}

TEST(ErrorRecord, NamesTheOutcomeThatExceededALimit) {
  const struct {
    ExceededLimit limit;
    std::string_view outcome;
  } rows[] = {{ExceededLimit::kMemory, "oom_killed"},
              {ExceededLimit::kNetwork, "network_denied"},
              {ExceededLimit::kDisk, "disk_quota_exceeded"}};
  for (const auto& row : rows) {
    const Json error = json_of(limit_exceeded("npm", row.limit, "it was too much"));
    EXPECT_EQ(error["kind"], "limit_exceeded");
    EXPECT_EQ(error["tool"], "npm");
    EXPECT_EQ(error["outcome"], row.outcome);
  }
}

TEST(DenialJson, NamesTheReasonAndTheKindOfAddress) {
  EXPECT_EQ(json_of(Denial{.host = "a.test", .reason = DenialReason::kNoHostAllowed})["reason"], "no host is allowed");
  EXPECT_EQ(json_of(Denial{.host = "a.test",
                           .port = 443,
                           .reason = DenialReason::kSpecialAddress,
                           .address = AddressKind::kLinkLocal})["reason"],
            "link-local address");
}

TEST(AllowlistRecord, ListsEveryToolByName) {
  const Json record = allowlist_record(Allowlist::builtin());
  EXPECT_EQ(record["schema"], "sallyport.allowlist/1");
  ASSERT_EQ(record["tools"].size(), 16U);
  EXPECT_EQ(record["tools"][0]["name"], "git");
  EXPECT_EQ(record["tools"][0]["hardening"], "git");
  EXPECT_EQ(record["digest"], policy_digest(Allowlist::builtin()));
  EXPECT_EQ(json_of(*Allowlist::builtin().find("bwrap"))["role"], "wrapper");
  ToolEntry online = *Allowlist::builtin().find("npm");
  EXPECT_FALSE(json_of(online).contains("allow_hosts"));
  online.allowed_hosts = {*parse_host_rule("*.h.test"), *parse_host_rule("r.test:4873=127.0.0.1:4873")};
  EXPECT_EQ(json_of(online)["allow_hosts"], (Json{"*.h.test", "r.test:4873=127.0.0.1:4873"}));
}

TEST(EventJson, KeepsNameLevelAndFields_C18) {
  const Event event{
      .level = EventLevel::kWarning, .name = "subproc.stdout.truncated", .fields = {{"stream", "stdout"}}};
  EXPECT_EQ(json_of(event),
            (Json{{"level", "warning"}, {"name", "subproc.stdout.truncated"}, {"fields", {{"stream", "stdout"}}}}));
}

RC_GTEST_PROP(JsonText, IsLosslessAndDumpsAsValidUtf8ForAnyBytes, (const std::string& bytes)) {
  const std::string text = json_dump(json_text(bytes));
  RC_ASSERT(is_valid_utf8(text));
  const Json back = Json::parse(text);
  const bool kept = back.is_string() ? back.get<std::string>() == bytes : back.contains("base64");
  RC_ASSERT(kept);
}

}  // namespace
}  // namespace sallyport
