#include "cli/exit_code.h"

#include <gtest/gtest.h>

#include "cli/verdict.h"
#include "core/errors.h"

namespace sallyport::cli {
namespace {

using namespace std::chrono_literals;

TEST(ExitCode, OfEachOutcome) {
  EXPECT_EQ(exit_code_of(Completed{ExitCode{7}}, 0), 7);
  EXPECT_EQ(exit_code_of(Completed{Signal{11}}, 0), 139);
  EXPECT_EQ(exit_code_of(TimedOut{}, 0), 124);
  EXPECT_EQ(exit_code_of(OomKilled{}, 0), 137);
  EXPECT_EQ(exit_code_of(NetworkDenied{}, 0), 125);
  EXPECT_EQ(exit_code_of(DiskQuotaExceeded{}, 0), 125);
  EXPECT_EQ(exit_code_of(Cancelled{}, 2), 130);
  EXPECT_EQ(exit_code_of(Cancelled{}, 15), 143);
}

TEST(ExitCode, OfEachKindOfError) {
  EXPECT_EQ(exit_code_of(tool_missing("git", "")), 127);
  EXPECT_EQ(exit_code_of(tool_not_runnable("git", "/git", "x")), 126);
  EXPECT_EQ(exit_code_of(untrusted_tool("git", "/git", "x")), 125);
  EXPECT_EQ(exit_code_of(disallowed_subprocess("sh", "x", "")), 125);
  EXPECT_EQ(exit_code_of(invalid_request("cwd", "x")), 125);
  EXPECT_EQ(exit_code_of(setup_failed({.stage = SetupStage::kExec, .error_number = 1})), 125);
}

// If a run did not end by itself, one line says so, with evidence and what to change.
TEST(Verdict, EveryEndThatIsNotTheToolsOwnIsReported) {
  EXPECT_EQ(verdict_of(Completed{ExitCode{1}}, "git", 0).line, "");
  EXPECT_EQ(verdict_of(Completed{Signal{11}}, "git", 0).line, "git ended by SIGSEGV");
  EXPECT_EQ(verdict_of(TimedOut{.elapsed = 2000ms, .limit = 2000ms}, "git", 0).line,
            "timed out after 2.00 s: killed git and everything it started");
  const Denial denial{
      .host = "registry.test", .reason = DenialReason::kNoHostAllowed, .hint = "--allow-host registry.test"};
  const Verdict late = verdict_of(TimedOut{.elapsed = 2000ms, .limit = 2000ms}, "npm", 0, {{denial}});
  EXPECT_EQ(
      late.line,
      "denied registry.test (no host is allowed), then timed out after 2.00 s: killed npm and everything it started");
  EXPECT_TRUE(late.hint.starts_with("--allow-host registry.test; or raise --timeout")) << late.hint;
  const Denial unknown{.host = "registry.test", .reason = DenialReason::kNameDoesNotResolve};
  EXPECT_NE(verdict_of(NetworkDenied{}, "npm", 0, {{denial, unknown}}).hint, "");
  EXPECT_EQ(verdict_of(NetworkDenied{}, "npm", 0, {{unknown}}).hint, "") << "no option makes a name resolve";
  EXPECT_EQ(verdict_of(Cancelled{.elapsed = 1500ms}, "git", 2).line,
            "cancelled by SIGINT after 1.50 s: killed git and everything it started");
  for (const Outcome& outcome :
       {Outcome{TimedOut{}}, Outcome{OomKilled{}}, Outcome{NetworkDenied{}}, Outcome{DiskQuotaExceeded{}}}) {
    EXPECT_FALSE(verdict_of(outcome, "git", 0).line.empty());
    EXPECT_FALSE(verdict_of(outcome, "git", 0).hint.empty());
  }
}

}  // namespace
}  // namespace sallyport::cli
