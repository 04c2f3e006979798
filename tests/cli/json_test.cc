// With --json: exactly one record on stdout, whatever happens.
#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

using CliJson = CliTest;

TEST_F(CliJson, ACompletedRunHasEveryField) {
  const ProgramResult result = run_helper({"print_hex", "6f7574", "657272"}, {"--json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.stderr_bytes, "");
  const nlohmann::json record = record_of(result);
  EXPECT_EQ(record["schema"], "sallyport.run/1");
  EXPECT_EQ(record["outcome"], "completed");
  EXPECT_EQ(record["exit_code"], 0);
  EXPECT_EQ(record["stdout"], "out");
  EXPECT_EQ(record["stderr"], "err");
  EXPECT_TRUE(record["duration_ms"].is_number());
  EXPECT_TRUE(record["usage"].is_object());
  EXPECT_EQ(record["receipt"]["jail"], "none");
  EXPECT_TRUE(record["events"].is_array());
  for (const char* field : {"encoding", "truncated"}) EXPECT_TRUE(record.contains(field)) << field;
}

TEST_F(CliJson, BytesThatAreNotUtf8AreBase64) {
  const nlohmann::json record = record_of(run_helper({"print_hex", "ff00fe", "c3a9"}, {"--json"}));
  EXPECT_EQ(record["stdout"], "/wD+");
  EXPECT_EQ(record["encoding"]["stdout"], "base64");
  EXPECT_EQ(record["stderr"], "\xC3\xA9");
  EXPECT_EQ(record["encoding"]["stderr"], "utf-8");
}

TEST_F(CliJson, OutputOverTheCapIsTheMarkerAndTheExactTail_C13) {
  const nlohmann::json record = record_of(run_helper({"print_bytes", "100000"}, {"--json", "--max-output", "1K"}));
  const std::string out = record["stdout"];
  ASSERT_EQ(out.size(), 1024u);
  const std::string marker = "...[TRUNCATED]...";
  EXPECT_TRUE(out.starts_with(marker));
  for (std::size_t i = marker.size(); i < out.size(); ++i) {
    ASSERT_EQ(out[i], static_cast<char>('a' + (100000 - 1024 + i) % 26)) << i;
  }
  EXPECT_EQ(record["truncated"]["stdout"], true);
  EXPECT_EQ(record["truncated"]["stderr"], false);
  EXPECT_EQ(record["events"][0]["name"], "subproc.stdout.truncated") << record["events"];
}

TEST_F(CliJson, AnErrorIsARecordOnStdoutAndNothingElseAnywhere) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"run", "--json", "--", "bash"}, "disallowed_subprocess"},
      {{"run", "--json"}, "disallowed_subprocess"},
      {{"run", "--json", "--timeout", "soon", "--", "git"}, "invalid_request"},
      {{"run", "--json", "--probe", "Bad-Name", "--", "git"}, "invalid_probe_name"},
      {{"explain", "--json", "--", "/usr/bin/git"}, "disallowed_subprocess"},
      {{"allowlist", "show", "bash", "--json"}, "disallowed_subprocess"},
      {{"allowlist", "check", "--json", "--policy", "/dev/null/absent"}, "policy"},
  };
  for (const auto& [args, kind] : cases) {
    const ProgramResult result = sallyport(args);
    const nlohmann::json record = record_of(result);
    EXPECT_EQ(record["schema"], "sallyport.error/1");
    EXPECT_TRUE(record["error"]["kind"].get<std::string>().starts_with(kind)) << record;
    EXPECT_FALSE(record["error"]["message"].get<std::string>().empty());
    EXPECT_FALSE(record["error"]["hint"].get<std::string>().empty()) << record;
    EXPECT_EQ(result.stderr_bytes, "");
    EXPECT_EQ(result.exit_code, 125);
  }
}

TEST_F(CliJson, VersionAndAllowlistAreRecordsToo) {
  EXPECT_EQ(record_of(sallyport({"--version", "--json"}))["schema"], "sallyport.version/1");
  const nlohmann::json list = record_of(sallyport({"allowlist", "list", "--json"}));
  EXPECT_EQ(list["schema"], "sallyport.allowlist/1");
  EXPECT_EQ(list["tools"].size(), 16u);
  const nlohmann::json one = record_of(sallyport({"allowlist", "show", "rg", "--json"}));
  ASSERT_EQ(one["tools"].size(), 1u);
  EXPECT_EQ(one["tools"][0]["name"], "rg");
  EXPECT_EQ(one["digest"], list["digest"]);
  const nlohmann::json checked = record_of(sallyport({"allowlist", "check", "--policy", policy_.string(), "--json"}));
  EXPECT_EQ(checked["tools"][0]["name"], "sleep_forever");
}

}  // namespace
}  // namespace sallyport::test
