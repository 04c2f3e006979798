// The child's fate: a closed set, each alternative with its evidence (docs/contract.md, C20). The verdict comes from
// the kernel and from our own enforcement points, never from the tool's output or exit code.
//
//   std::string words = std::visit(overloaded{[](const Completed&) { return std::string("it ended by itself"); },
//                                             [](const TimedOut&) { return std::string("out of time"); },
//                                             [](const OomKilled&) { return std::string("out of memory"); },
//                                             [](const NetworkDenied& denied) { return "refused: " + denied.host; },
//                                             [](const DiskQuotaExceeded&) { return std::string("wrote too much"); },
//                                             [](const Cancelled&) { return std::string("cancelled"); }},
//                                  result.outcome);
//
// None of these is an error: those are known before, or instead of, a fate (error.h).
// Use no catch-all: a new alternative must not compile until every caller handles it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace sallyport {

struct ExitCode {
  int value = 0;
};
struct Signal {
  int number = 0;
};

// The tool ended by itself. A non-zero exit is a result, never an error (C11).
struct Completed {
  std::variant<ExitCode, Signal> fate;
};
// We ended it at the deadline.
struct TimedOut {
  std::chrono::milliseconds elapsed{};
  std::chrono::milliseconds limit{};
};
// What detected that a run exceeded its memory limit.
enum class OomBy {
  kCgroup,         // the kernel's memory controller killed in this run's own cgroup
  kSocketBuffers,  // we ended a run whose socket buffers, which the kernel grants beyond the limit, reached the limit
  kWatch,          // no cgroup could be made: we measured the run's processes, and ended it
};
struct OomKilled {
  OomBy by = OomBy::kCgroup;
  std::uint64_t oom_kills = 0;
  std::uint64_t limit_bytes = 0;
  // How the tool itself ended: the kernel may have killed another process of the run, and the tool went on. nullopt
  // when we ended the run.
  std::optional<std::variant<ExitCode, Signal>> fate{};
  std::uint64_t socket_bytes = 0;    // set when they ended the run
  std::uint64_t measured_bytes = 0;  // set when the watch ended the run
};
// A connection was refused by the egress rules and the tool then failed (or strict mode ended it).
struct NetworkDenied {
  std::string host;
  std::uint16_t port = 0;
};
// Scratch reached its quota, of bytes or of files, and we ended the run.
struct DiskQuotaExceeded {
  std::uint64_t bytes_used = 0;
  std::uint64_t quota_bytes = 0;
  std::uint64_t files_used = 0;
  std::uint64_t quota_files = 0;
};
// The caller's stop_token fired and we ended the run.
struct Cancelled {
  std::chrono::milliseconds elapsed{};
};

using Outcome = std::variant<Completed, TimedOut, OomKilled, NetworkDenied, DiskQuotaExceeded, Cancelled>;

// "completed", "timed_out", "oom_killed", "network_denied", "disk_quota_exceeded", "cancelled".
[[nodiscard]] std::string_view outcome_name(const Outcome& outcome);

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace sallyport
