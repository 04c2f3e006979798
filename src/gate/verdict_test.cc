// The verdict's order: what we did to the run, what the kernel counted, how the run ended by itself; and its evidence (C20).
#include "gate/verdict.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <optional>
#include <string>
#include <vector>

namespace sallyport {
namespace {

using namespace std::chrono_literals;
using spawn::Ended;
using spawn::EndedBy;

// Every field of the outcome, so that a row notices one that is lost, or that holds another one's value.
std::string words_for(const std::variant<ExitCode, Signal>& fate) {
  if (const auto* signal = std::get_if<Signal>(&fate)) return "signal " + std::to_string(signal->number);
  return "exit " + std::to_string(std::get<ExitCode>(fate).value);
}

std::string words_for(OomBy by) {
  switch (by) {
    case OomBy::kCgroup:
      return "cgroup";
    case OomBy::kSocketBuffers:
      return "socket buffers";
    case OomBy::kWatch:
      break;
  }
  return "watch";
}

std::string words_for(const OomKilled& oom) {
  return "by " + words_for(oom.by) + ", kills " + std::to_string(oom.oom_kills) + ", limit " +
         std::to_string(oom.limit_bytes) + ", sockets " + std::to_string(oom.socket_bytes) + ", measured " +
         std::to_string(oom.measured_bytes) + ", " + (oom.fate ? words_for(*oom.fate) : "ended by us");
}

std::string words_for(const DiskQuotaExceeded& full) {
  return std::to_string(full.bytes_used) + " of " + std::to_string(full.quota_bytes) + " bytes, " +
         std::to_string(full.files_used) + " of " + std::to_string(full.quota_files) + " files";
}

std::string evidence_of(const Outcome& outcome) {
  return std::visit(
      overloaded{[](const Completed& completed) { return words_for(completed.fate); },
                 [](const TimedOut& late) {
                   return std::to_string(late.elapsed.count()) + " of " + std::to_string(late.limit.count()) + " ms";
                 },
                 [](const OomKilled& oom) { return words_for(oom); },
                 [](const NetworkDenied& denied) { return denied.host + ":" + std::to_string(denied.port); },
                 [](const DiskQuotaExceeded& full) { return words_for(full); },
                 [](const Cancelled& stop) { return std::to_string(stop.elapsed.count()) + " ms"; }},
      outcome);
}

struct Case {
  const char* name;
  EndedBy by;
  int wait_status;
  std::uint64_t oom_kills;
  bool denied;
  std::string_view outcome;
  std::string_view evidence;
  NetworkMode network = NetworkMode::kLenient;
  std::uint64_t measured = 0;                    // memory, as the watch saw it
  std::optional<ByteCount> disk{};               // the limit
  std::optional<spawn::LayerFull> layer_full{};  // of a workspace
};

constexpr int kExit137 = 137 << 8;
constexpr int kExit1 = 1 << 8;
constexpr spawn::LayerFull kFullLayer{.bytes = 51, .quota_bytes = 50, .files = 7, .quota_files = 60};

// One row for each way a run can end; a tool that only claims something is "completed".
const Case kCases[] = {
    {"ItsOwnEnd", EndedBy::kItself, 0, 0, false, "completed", "exit 0"},
    {"Exit137IsNoKill", EndedBy::kItself, kExit137, 0, false, "completed", "exit 137"},
    {"ItsOwnSignal", EndedBy::kItself, SIGSEGV, 0, false, "completed", "signal 11"},
    {"Deadline", EndedBy::kDeadline, SIGTERM, 0, false, "timed_out", "5 of 1000 ms"},
    {"DeadlineOutranksTheOomKiller", EndedBy::kDeadline, SIGKILL, 3, true, "timed_out", "5 of 1000 ms"},
    {"Stop", EndedBy::kStop, SIGTERM, 0, false, "cancelled", "5 ms"},
    {"StopOutranksTheOomKiller", EndedBy::kStop, SIGKILL, 3, true, "cancelled", "5 ms"},
    {"DiskQuota", EndedBy::kDiskQuota, SIGKILL, 0, false, "disk_quota_exceeded",
     "4097 of 1073741824 bytes, 3 of 1048576 files"},
    {.name = "DiskQuotaOfTheCaller",
     .by = EndedBy::kDiskQuota,
     .wait_status = SIGKILL,
     .outcome = "disk_quota_exceeded",
     .evidence = "4097 of 2097152 bytes, 3 of 2048 files",
     .disk = mebibytes(2)},
    {.name = "DiskQuotaOfALayerAndNotOfTheScratch",
     .by = EndedBy::kDiskQuota,
     .wait_status = SIGKILL,
     .outcome = "disk_quota_exceeded",
     .evidence = "51 of 50 bytes, 7 of 60 files",
     .disk = mebibytes(2),
     .layer_full = kFullLayer},
    {"CpuTimeLooksLikeTheKernels", EndedBy::kCpuTime, SIGKILL, 0, false, "completed", "signal 24"},
    {"SocketMemory", EndedBy::kMemory, SIGKILL, 0, false, "oom_killed",
     "by socket buffers, kills 0, limit 1048576, sockets 99, measured 0, ended by us"},
    {.name = "WatchedMemory",
     .by = EndedBy::kMemory,
     .wait_status = SIGKILL,
     .outcome = "oom_killed",
     .evidence = "by watch, kills 0, limit 1048576, sockets 0, measured 1048577, ended by us",
     .measured = 1048577},
    {"OomKiller", EndedBy::kItself, SIGKILL, 1, false, "oom_killed",
     "by cgroup, kills 1, limit 1048576, sockets 0, measured 0, signal 9"},
    {.name = "OomKillerOfAProcessThatTheToolOutlived",
     .by = EndedBy::kItself,
     .wait_status = kExit1,
     .oom_kills = 2,
     .outcome = "oom_killed",
     .evidence = "by cgroup, kills 2, limit 1048576, sockets 0, measured 0, exit 1",
     .measured = 77},
    {"OomKillerOutranksADenial", EndedBy::kItself, SIGKILL, 1, true, "oom_killed",
     "by cgroup, kills 1, limit 1048576, sockets 0, measured 0, signal 9"},
    {"OomKillerOutranksTheDenialThatEndedTheRun", EndedBy::kNetwork, SIGKILL, 1, true, "oom_killed",
     "by cgroup, kills 1, limit 1048576, sockets 0, measured 0, ended by us"},
    {"StrictNetwork", EndedBy::kNetwork, SIGKILL, 0, true, "network_denied", "host.test:443"},
    {"DeniedAndFailed", EndedBy::kItself, kExit1, 0, true, "network_denied", "host.test:443"},
    {"DeniedAndKilledByItsOwnSignal", EndedBy::kItself, SIGSEGV, 0, true, "network_denied", "host.test:443"},
    {"DeniedButCoped", EndedBy::kItself, 0, 0, true, "completed", "exit 0"},
    {"StrictAndGoneBeforeItWasEnded", EndedBy::kItself, 0, 0, true, "network_denied", "host.test:443",
     NetworkMode::kStrict},
    {"StrictAndObedient", EndedBy::kItself, 0, 0, false, "completed", "exit 0", NetworkMode::kStrict},
    {"StrictAndOutOfTime", EndedBy::kDeadline, SIGTERM, 0, true, "timed_out", "5 of 1000 ms", NetworkMode::kStrict},
};

class VerdictTable : public testing::TestWithParam<Case> {};

TEST_P(VerdictTable, IsAsWrittenWithItsEvidence_C20) {
  const Case& row = GetParam();
  Ended ended;
  ended.by = row.by;
  ended.wait_status = row.wait_status;
  ended.duration = 5900us;
  ended.socket_bytes = 99;
  ended.memory_bytes = row.measured;
  ended.scratch_used = 4097;
  ended.scratch_files = 3;
  ended.layer_full = row.layer_full;
  const Limits limits{.wall = 1s, .memory = mebibytes(1), .disk = row.disk};
  const std::vector<Denial> denials =
      row.denied ? std::vector<Denial>{{.host = "host.test", .port = 443}, {.host = "later.test", .port = 80}}
                 : std::vector<Denial>{};
  const Outcome outcome = verdict(ended, row.oom_kills, limits, denials, row.network);
  EXPECT_EQ(outcome_name(outcome), row.outcome);
  EXPECT_EQ(evidence_of(outcome), row.evidence);
}

INSTANTIATE_TEST_SUITE_P(, VerdictTable, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

// A jail with its own kernel counts OOM kills of a run without a memory limit, too. Then the evidence shows limit 0.
TEST(Verdict, OfAnOomKillWithoutALimitShowsNoLimit_C20) {
  Ended ended;
  ended.wait_status = SIGKILL;
  EXPECT_EQ(evidence_of(verdict(ended, 4, {.wall = 1s}, {})),
            "by cgroup, kills 4, limit 0, sockets 0, measured 0, signal 9");
}

}  // namespace
}  // namespace sallyport
