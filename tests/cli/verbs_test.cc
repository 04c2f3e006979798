// help, --version, explain, allowlist, and the first vertical slice: git through the whole gate.
#include <algorithm>
#include <sstream>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;
using CliVerbs = CliTest;

TEST_F(CliVerbs, HelpFitsOneScreen) {
  const std::vector<Words> pages = {{"--help"},
                                    {"help"},
                                    {"help", "run"},
                                    {"run", "--help"},
                                    {"help", "explain"},
                                    {"explain", "--help"},
                                    {"help", "allowlist"},
                                    {"allowlist", "--help"},
                                    {"help", "doctor"},
                                    {"doctor", "--help"}};
  for (const Words& args : pages) {
    const ProgramResult result = sallyport(args);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.stderr_bytes, "");
    EXPECT_TRUE(result.stdout_bytes.starts_with("usage: sallyport"));
    EXPECT_NE(result.stdout_bytes.find("example"), std::string::npos);
    EXPECT_LE(std::ranges::count(result.stdout_bytes, '\n'), 24) << result.stdout_bytes;
    std::istringstream lines(result.stdout_bytes);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST_F(CliVerbs, VersionIsOneLine) {
  const ProgramResult result = sallyport({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.stdout_bytes.starts_with("sallyport 0.")) << result.stdout_bytes;
  EXPECT_EQ(std::ranges::count(result.stdout_bytes, '\n'), 1);
}

TEST_F(CliVerbs, ExplainStartsNothingAndWritesNothing) {
  const std::string mark = (repo_ / "mark").string();
  const Words common{"--jail", "none", "--policy", policy_.string(), "--", "leave_mark", mark};
  const auto before = everything();
  for (const Words& first : {Words{"explain"}, Words{"explain", "--json"}}) {
    Words args = first;
    args.insert(args.end(), common.begin(), common.end());
    const ProgramResult result = sallyport(args);
    EXPECT_EQ(result.exit_code, 0) << result.stderr_bytes;
    EXPECT_NE(result.stdout_bytes.find("leave_mark"), std::string::npos);
    EXPECT_EQ(everything(), before);
  }
  Words run{"run"};
  run.insert(run.end(), common.begin(), common.end());
  EXPECT_EQ(sallyport(run).exit_code, 0);
  EXPECT_TRUE(fs::exists(mark));  // control: the same command does leave its mark when it runs
}

TEST_F(CliVerbs, ExplainShowsThePlanThatRunFollows) {
  for (const std::string jail : {"none", "native", "landlock"}) {
    const Words command{"--policy", policy_.string(), "--jail", jail,        "--timeout",
                        "30s",      "--json",         "--",     "exit_with", "0"};
    Words explain{"explain"};
    Words run{"run"};
    explain.insert(explain.end(), command.begin(), command.end());
    run.insert(run.end(), command.begin(), command.end());
    const nlohmann::json plan = record_of(sallyport(explain));
    const nlohmann::json ran = record_of(sallyport(run));
    EXPECT_EQ(plan["schema"], "sallyport.explain/1");
    EXPECT_EQ(plan["plan_digest"], ran["receipt"]["plan_digest"]) << jail << plan << ran;
    EXPECT_EQ(plan["binary"]["sha256"], ran["receipt"]["binary"]["sha256"]) << jail;
    // Control: another call has another plan.
    explain.insert(explain.begin() + 1, {"--pids", "9"});
    if (jail == "native") {
      EXPECT_NE(record_of(sallyport(explain))["plan_digest"], plan["plan_digest"]);
    }
  }
}

TEST_F(CliVerbs, ExplainRefusesWhatRunRefuses) {
  EXPECT_EQ(sallyport({"explain", "--", "bash"}).exit_code, 125);
  EXPECT_EQ(sallyport({"explain", "--policy", policy_.string(), "--", "not_installed"}).exit_code, 127);
}

TEST_F(CliVerbs, AllowlistShowsWhoDecidedWhat_C3) {
  const ProgramResult list = sallyport({"allowlist", "list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_EQ(std::ranges::count(list.stdout_bytes, '\n'), 17);
  EXPECT_EQ(sallyport({"allowlist"}).stdout_bytes, list.stdout_bytes);
  const ProgramResult show = sallyport({"allowlist", "show", "git"});
  EXPECT_NE(show.stdout_bytes.find("ADR-"), std::string::npos) << show.stdout_bytes;
  const ProgramResult check = sallyport({"allowlist", "check", "--policy", policy_.string()});
  EXPECT_EQ(check.exit_code, 0) << check.stderr_bytes;
  EXPECT_NE(check.stdout_bytes.find(": ok, 16 tools"), std::string::npos) << check.stdout_bytes;
}

class CliSlice : public CliTest, public testing::WithParamInterface<bool> {};

TEST_P(CliSlice, GitRevParseThroughTheWholeGate) {
  const std::optional<PlainUser> user = GetParam() ? as_plain_user() : std::nullopt;
  const TempDir mine(user);
  const std::string head = make_git_repo(mine / "repo", user);
  environment_ = {{"PATH", "/usr/bin:/bin"}, {"HOME", mine.path().string()}};
  for (const Words& jail : {Words{}, Words{"--jail", "none"}}) {
    Words args{"run"};
    args.insert(args.end(), jail.begin(), jail.end());
    args.insert(args.end(), {"--", "git", "rev-parse", "HEAD"});
    const ProgramResult result = sallyport(args, {.cwd = mine / "repo", .user = user});
    EXPECT_EQ(result.exit_code, 0) << result.stderr_bytes;
    EXPECT_EQ(result.stdout_bytes, head + "\n");
  }
}

INSTANTIATE_TEST_SUITE_P(AsWeAreAndAsAPlainUser, CliSlice, testing::Bool());

}  // namespace
}  // namespace sallyport::test
