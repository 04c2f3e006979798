// A run's channel with only this test at its other end.
#include "spawn/owner/helper_run.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

namespace sallyport::spawn {
namespace {

// A worker that is busy killing a large tree exits without reading every command. The kernel then reports a reset
// (unix(7): ECONNRESET) ahead of the report that the worker had sent.
TEST(HelperRun, GetsTheLastReportOfAWorkerThatLeftACommandUnread) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  UniqueFd worker(ends[1]);
  JailSupply supply({});
  const LaunchSpec spec;
  HelperRun run({.run = {.channel = UniqueFd(ends[0])}, .helper = std::make_shared<HelperClient>()}, supply, spec, {});
  run.stop(StopStep::kKill);
  wire::Report sent{};
  sent.kind = wire::ReportKind::kExited;
  sent.wait_status = 9;
  ASSERT_EQ(::send(worker.get(), &sent, sizeof sent, 0), static_cast<ssize_t>(sizeof sent));
  worker.reset();

  bool ended = false;
  bool gone = false;
  for (int i = 0; i < 4 && !gone; ++i) {
    const Result<RunReport> report = run.next();
    ASSERT_TRUE(report) << report.error().message;
    if (const auto* end = std::get_if<ToolEnded>(&*report)) {
      ended = true;
      EXPECT_EQ(end->wait_status, 9);
    }
    gone = std::holds_alternative<RunGone>(*report);
  }
  EXPECT_TRUE(ended) << "the report was lost";
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace sallyport::spawn
