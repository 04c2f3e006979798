// The protocol between the owner of a run and our init inside a wrapper, where the kernel offers only POSIX: one-byte
// commands to the init and reports of one size from it, over one stream socket. Its end means "kill" to the init, and
// "gone" to the owner.
#pragma once

#include <cstdint>

#include "sallyport/setup_stage.h"

namespace sallyport::spawn::posix {

// The init's descriptor for the channel; 0 to 2 are the tool's streams.
inline constexpr int kChannelFd = 3;
inline constexpr int kCwdFd = 4;
// init LIMIT… "--" EXE ARGV0 ARG…, where a LIMIT is "resource:soft:hard".
inline constexpr const char* kEndOfLimits = "--";

enum class Command : char { kTerminate = 'T', kKill = 'K' };

// kReady: inside the sandbox, before the tool.
enum class ReportKind : std::uint32_t { kReady = 1, kStarted, kFailed, kEnded };

struct Report {
  ReportKind kind{};
  SetupStage stage{};           // of kFailed
  std::int32_t error_number{};  // of kFailed
  std::int32_t tool{};          // of kStarted: the leader of the tool's process group
  std::int32_t wait_status{};   // of kEnded
  std::uint32_t unused{};       // so that no byte of it is padding
  std::uint64_t user_us{};
  std::uint64_t system_us{};
  std::uint64_t peak_rss_bytes{};
};
static_assert(sizeof(Report) == 48);

}  // namespace sallyport::spawn::posix
