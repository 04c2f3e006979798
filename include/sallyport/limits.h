// Limits of one run (docs/contract.md, C9, C13). A value out of range gives InvalidRequest at the call. A wall limit is
// mandatory everywhere; `std::nullopt` means "not limited by us".
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace sallyport {

enum class ByteCount : std::uint64_t {};

[[nodiscard]] constexpr std::uint64_t count(ByteCount bytes) { return static_cast<std::uint64_t>(bytes); }
[[nodiscard]] constexpr ByteCount mebibytes(std::uint64_t n) { return ByteCount{n << 20}; }

inline constexpr ByteCount kDefaultMaxOutput = mebibytes(64);
inline constexpr ByteCount kDefaultDiskQuota = mebibytes(1024);

// How many files, directories and links a scratch of this size may hold. An empty one has no size, but costs about a
// kilobyte of the kernel's memory.
[[nodiscard]] constexpr std::uint64_t scratch_files(ByteCount quota) {
  constexpr std::uint64_t kAtLeast = 1024;
  return std::max(kAtLeast, count(quota) / 1024);
}
// A longer timeout is a mistake in the caller's arithmetic.
inline constexpr std::chrono::hours kLongestTimeout{24};

struct Limits {
  std::chrono::milliseconds wall{};      // mandatory, positive (C9)
  ByteCount output = kDefaultMaxOutput;  // for each of stdout and stderr (C13)
  std::optional<ByteCount> memory{};
  std::optional<std::uint32_t> pids{};
  std::optional<std::chrono::milliseconds> cpu{};
  std::optional<ByteCount> disk{};  // scratch; a jail applies kDefaultDiskQuota when unset
};

// What happens at the deadline, as data: SIGTERM to everything, `grace`, SIGKILL to everything (C9).
struct StopLadder {
  std::chrono::milliseconds grace{100};
};

}  // namespace sallyport
