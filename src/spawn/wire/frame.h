// The protocol between the init inside and the worker outside where no descriptor can be passed (gVisor, a container
// engine's client): frames over stdin and stdout of the process that builds the jail. When that stdin ends, the init
// must die.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sallyport::spawn::wire {

enum class FrameKind : std::uint32_t {
  // To the init.
  kImage = 1,  // comes first: the launch image
  kInput,      // for the tool's stdin; empty: its end
  kCommand,    // a wire::Command
  // From it.
  kReport,  // a wire::Report
  kTaken,   // a uint32: how many bytes of input have reached the tool
  kOutput,  // of the tool's stdout
  kErrors,  // of its stderr
  // Both ways, for carried connections (carried.h).
  kOpen = 16,
  kData,
  kCredit,
  kFinish,
  kGone,
  // To the init of an engine's container (wire::kEngine): the owner is alive. With a daemon in between, the init may
  // never see the end of the stream.
  kAlive = 32,
};

struct FrameHeader {
  FrameKind kind;
  std::uint32_t size;
};

inline constexpr std::size_t kLargestFrame = 64 * 1024;  // except an image
// How much input may be under way.
inline constexpr std::size_t kInputWindow = 64 * 1024;
inline constexpr std::size_t kLargestFramedImage = 512 * 1024;

inline constexpr long kAliveEveryMs = 1000;
inline constexpr long kSilentAtMostMs = 20'000;  // after that such an init counts its owner as dead

}  // namespace sallyport::spawn::wire
