// How the init inside and the worker outside speak where no descriptor can be passed (gVisor, a container engine's client): frames
// over the stdin and the stdout of the process that builds the jail. The end of that stdin means to the init: die.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sallyport::spawn::wire {

enum class FrameKind : std::uint32_t {
  // To the init.
  kImage = 1,  // first of all: the launch image
  kInput,      // for the tool's stdin; empty: its end
  kCommand,    // a wire::Command
  // From it.
  kReport,  // a wire::Report
  kTaken,   // a uint32: so many bytes of input have reached the tool
  kOutput,  // of the tool's stdout
  kErrors,  // of its stderr
  // Both ways, of connections that are carried (carried.h).
  kOpen = 16,
  kData,
  kCredit,
  kFinish,
  kGone,
  // To the init of an engine's container (wire::kEngine): the owner lives. Where a daemon stands between, the end of a stream may
  // never be seen.
  kAlive = 32,
};

struct FrameHeader {
  FrameKind kind;
  std::uint32_t size;
};

inline constexpr std::size_t kLargestFrame = 64 * 1024;  // but for an image
// So much input may be under way.
inline constexpr std::size_t kInputWindow = 64 * 1024;
inline constexpr std::size_t kLargestFramedImage = 512 * 1024;

inline constexpr long kAliveEveryMs = 1000;
inline constexpr long kSilentAtMostMs = 20'000;  // then such an init takes its owner for dead

}  // namespace sallyport::spawn::wire
