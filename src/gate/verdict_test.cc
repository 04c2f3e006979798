// The verdict's order: what we did to the run, what the kernel counted, how the run ended by itself (C20).
#include "gate/verdict.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

namespace sallyport {
namespace {

using namespace std::chrono_literals;
using spawn::Ended;
using spawn::EndedBy;

struct Case {
  const char* name;
  EndedBy by;
  int wait_status;
  std::uint64_t oom_kills;
  bool denied;
  std::string_view outcome;
  NetworkMode network = NetworkMode::kLenient;
};

// One row for each way a run can end; a tool that only claims something is "completed".
const Case kCases[] = {
    {"ItsOwnEnd", EndedBy::kItself, 0, 0, false, "completed"},
    {"Exit137IsNoKill", EndedBy::kItself, 137 << 8, 0, false, "completed"},
    {"ItsOwnSignal", EndedBy::kItself, SIGSEGV, 0, false, "completed"},
    {"Deadline", EndedBy::kDeadline, SIGTERM, 0, false, "timed_out"},
    {"DeadlineOutranksTheOomKiller", EndedBy::kDeadline, SIGKILL, 3, true, "timed_out"},
    {"Stop", EndedBy::kStop, SIGTERM, 0, false, "cancelled"},
    {"DiskQuota", EndedBy::kDiskQuota, SIGKILL, 0, false, "disk_quota_exceeded"},
    {"CpuTimeLooksLikeTheKernels", EndedBy::kCpuTime, SIGKILL, 0, false, "completed"},
    {"SocketMemory", EndedBy::kMemory, SIGKILL, 0, false, "oom_killed"},
    {"OomKiller", EndedBy::kItself, SIGKILL, 1, false, "oom_killed"},
    {"OomKillerOutranksADenial", EndedBy::kItself, SIGKILL, 1, true, "oom_killed"},
    {"StrictNetwork", EndedBy::kNetwork, SIGKILL, 0, true, "network_denied"},
    {"DeniedAndFailed", EndedBy::kItself, 1 << 8, 0, true, "network_denied"},
    {"DeniedButCoped", EndedBy::kItself, 0, 0, true, "completed"},
    {"StrictAndGoneBeforeItWasEnded", EndedBy::kItself, 0, 0, true, "network_denied", NetworkMode::kStrict},
    {"StrictAndObedient", EndedBy::kItself, 0, 0, false, "completed", NetworkMode::kStrict},
    {"StrictAndOutOfTime", EndedBy::kDeadline, SIGTERM, 0, true, "timed_out", NetworkMode::kStrict},
};

class VerdictTable : public testing::TestWithParam<Case> {};

TEST_P(VerdictTable, IsAsWritten_C20) {
  const Case& row = GetParam();
  Ended ended;
  ended.by = row.by;
  ended.wait_status = row.wait_status;
  ended.duration = 5ms;
  ended.socket_bytes = 99;
  const Limits limits{.wall = 1s, .memory = mebibytes(1)};
  const std::vector<Denial> denials =
      row.denied ? std::vector<Denial>{{.host = "host.test", .port = 443}} : std::vector<Denial>{};
  const Outcome outcome = verdict(ended, row.oom_kills, limits, denials, row.network);
  EXPECT_EQ(outcome_name(outcome), row.outcome);
}

INSTANTIATE_TEST_SUITE_P(, VerdictTable, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Verdict, CarriesItsEvidence_C20) {
  Ended ended;
  ended.by = EndedBy::kDiskQuota;
  ended.scratch_used = 4096;
  ended.scratch_files = 3;
  const Outcome full = verdict(ended, 0, {.wall = 1s, .disk = ByteCount{4096}}, {});
  ASSERT_TRUE(std::holds_alternative<DiskQuotaExceeded>(full));
  EXPECT_EQ(std::get<DiskQuotaExceeded>(full).bytes_used, 4096U);
  EXPECT_EQ(std::get<DiskQuotaExceeded>(full).quota_bytes, 4096U);
  EXPECT_EQ(std::get<DiskQuotaExceeded>(full).files_used, 3U);

  Ended late;
  late.by = EndedBy::kCpuTime;
  const Outcome spent = verdict(late, 0, {.wall = 1s}, {});
  EXPECT_EQ(std::get<Signal>(std::get<Completed>(spent).fate).number, SIGXCPU);
}

}  // namespace
}  // namespace sallyport
