#include "gate/verdict.h"

#include <signal.h>
#include <sys/wait.h>

namespace sallyport {
namespace {

std::variant<ExitCode, Signal> fate_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return Signal{WTERMSIG(wait_status)};
  return ExitCode{WEXITSTATUS(wait_status)};
}

OomKilled out_of_memory(const spawn::Ended& ended, std::uint64_t oom_kills, const Limits& limits) {
  OomKilled oom{.oom_kills = oom_kills, .limit_bytes = count(limits.memory.value_or(ByteCount{0}))};
  if (ended.by == spawn::EndedBy::kMemory && ended.memory_bytes > 0) {
    oom.by = OomBy::kWatch;
    oom.measured_bytes = ended.memory_bytes;
  } else if (ended.by == spawn::EndedBy::kMemory) {
    oom.by = OomBy::kSocketBuffers;
    oom.socket_bytes = ended.socket_bytes;
  } else if (ended.by == spawn::EndedBy::kItself) {
    oom.fate = fate_of(ended.wait_status);
  }
  return oom;
}

}  // namespace

Outcome verdict(const spawn::Ended& ended, std::uint64_t oom_kills, const Limits& limits,
                std::span<const Denial> denials, NetworkMode network) {
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(ended.duration);
  switch (ended.by) {
    case spawn::EndedBy::kDeadline:
      return TimedOut{.elapsed = elapsed, .limit = limits.wall};
    case spawn::EndedBy::kStop:
      return Cancelled{.elapsed = elapsed};
    case spawn::EndedBy::kDiskQuota: {
      if (const auto& full = ended.layer_full) {
        return DiskQuotaExceeded{.bytes_used = full->bytes,
                                 .quota_bytes = full->quota_bytes,
                                 .files_used = full->files,
                                 .quota_files = full->quota_files};
      }
      const ByteCount quota = limits.disk.value_or(kDefaultDiskQuota);
      return DiskQuotaExceeded{.bytes_used = ended.scratch_used,
                               .quota_bytes = count(quota),
                               .files_used = ended.scratch_files,
                               .quota_files = scratch_files(quota)};
    }
    case spawn::EndedBy::kCpuTime:
      // The same fate as when the kernel ends a process that used up its own time: one cause, one fate.
      return Completed{Signal{SIGXCPU}};
    case spawn::EndedBy::kMemory:
      return out_of_memory(ended, oom_kills, limits);
    case spawn::EndedBy::kNetwork:  // only a denial ends a run this way
    case spawn::EndedBy::kItself:
      break;
  }
  if (oom_kills > 0) return out_of_memory(ended, oom_kills, limits);
  const bool decides =
      network == NetworkMode::kStrict || ended.by == spawn::EndedBy::kNetwork || ended.wait_status != 0;
  if (!denials.empty() && decides) {
    return NetworkDenied{.host = denials.front().host, .port = denials.front().port};
  }
  return Completed{fate_of(ended.wait_status)};
}

}  // namespace sallyport
