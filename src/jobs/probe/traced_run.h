// One run under strace, wherever it took place.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/report/context.h"

namespace sallyport::jobs {

// A server does not end by itself.
inline constexpr std::chrono::milliseconds kTraceFor{10'000};

// strace writes to the stream that we read during the run: the program could change a file, but not what we have read.
inline constexpr auto kStraceCommand = std::to_array<std::string_view>(
    {"strace", "-f", "-q", "-y", "-s", "64", "-e", "signal=none", "-e",
     "trace=execve,execveat,open,openat,openat2,creat,connect,ptrace,kill,tkill,tgkill"});

struct TracedRun {
  std::string way{};     // "jail" or "container"
  std::string detail{};  // what was started
  std::string trace{};
  bool ended_by_us = false;  // at kTraceFor
  std::vector<Denial> denials{};
  std::vector<Invocation> invocations{};
};

}  // namespace sallyport::jobs
