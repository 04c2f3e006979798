// One run, from start to the last process's end, in one poll loop: output, reports, deadline, stop token, disk watch.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

#include "sallyport/jail.h"
#include "sallyport/jail_kind.h"
#include "sallyport/jail_port.h"
#include "sallyport/limits.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::spawn {

// The processor time that all processes of the run may use together, and a function that measures it: nullopt counts as
// all of it.
struct CpuBudget {
  std::chrono::microseconds limit{};
  std::function<std::optional<std::chrono::microseconds>()> used{};
};

// A descriptor to watch, or -1, and what to do when it is readable: `then` returns the next one to watch; without
// `then` the run ends at once. An error ends the run. The descriptor stays open as long as it is watched.
struct NetworkWatch {
  int fd = -1;
  std::function<Result<NetworkWatch>()> then{};
};
// Called once, on the supervising thread, with the sockets of the run's network as soon as they are open.
using OnNetwork = std::function<Result<NetworkWatch>(NetworkOpened)>;

// Socket buffers that the kernel grants beyond the memory limit; measured from time to time.
struct SocketBudget {
  std::uint64_t limit_bytes = 0;
  std::function<std::uint64_t()> used{};
};

// A private layer holds more than it may.
struct LayerFull {
  std::uint64_t bytes = 0;
  std::uint64_t quota_bytes = 0;
  std::uint64_t files = 0;
  std::uint64_t quota_files = 0;
};
// Measures the run's private layers: during the run in short slices, at its end for as long as it takes.
enum class LayerLook { kWhileRunning, kAtTheEnd };
using LayerWatch = std::function<std::optional<LayerFull>(LayerLook)>;

// Memory of the run's processes, which we measure ourselves. If a measurement fails, the limit counts as reached.
struct MemoryBudget {
  std::uint64_t limit_bytes = 0;
};

struct Supervision {
  std::chrono::milliseconds wall{};
  StopLadder ladder{};
  ByteCount max_output{};
  std::optional<ByteCount> disk_quota{};  // watched when the run reports its scratch mount
  LayerWatch layers{};
  std::optional<CpuBudget> cpu{};
  std::optional<SocketBudget> sockets{};
  std::optional<MemoryBudget> memory{};  // watched from ToolStarted::tree downwards
  StdinSource stdin_source{};
  OutputPipes output_pipes = OutputPipes::kTwo;
  OutputTap tap{};
  std::function<int(Stream)> tap_waits_for{};  // as in JailedSubprocessSpec
  OnNetwork on_network{};
  std::function<Status(const RunFacts&)> on_started{};  // an error kills the run, and run() returns it
  int stop_fd = -1;                                     // ends the run as the stop token does, when readable
  JailKind jail{""};                                    // for messages
};

enum class EndedBy { kItself, kDeadline, kStop, kDiskQuota, kCpuTime, kNetwork, kMemory };

// What we know when everything is dead. The gate gives the verdict: it also knows the cgroup.
struct Ended {
  EndedBy by = EndedBy::kItself;
  bool tool_started = false;
  int wait_status = 0;
  // `status` is that of the jail's own process; the tool's is unknown.
  bool fate_unknown = false;
  CapturedStream stdout_stream{};
  CapturedStream stderr_stream{};
  std::chrono::microseconds duration{};
  Usage usage{};
  UniqueFd scratch{};              // of a jail's scratch mount
  std::uint64_t scratch_used = 0;  // bytes, as last measured; if the quota ended the run, the amount at that time
  std::uint64_t scratch_files = 0;
  std::optional<LayerFull> layer_full{};
  std::uint64_t socket_bytes = 0;  // set when they ended the run
  UniqueFd tree{};                 // ToolStarted::tree
  std::uint64_t memory_bytes = 0;  // as last measured; set when memory ended the run
  RunFacts facts{};
  std::uint64_t guests_oom_kills = 0;  // of a jail with a kernel of its own
};

// Starts the staged run and blocks until nothing of it is alive. An error means that the tool never started, or that we
// cannot know how it ended.
[[nodiscard]] Result<Ended> supervise(StagedRun& staged, const Supervision& supervision, const std::stop_token& stop);

}  // namespace sallyport::spawn
