// Landlock (landlock(7)): a ruleset by which a process gives up access to files and more, for good. This makes the
// ruleset; the process that gets its descriptor applies it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

// The kernel's Landlock version: 3 since Linux 6.2, 6 since Linux 6.12. 0: none.
[[nodiscard]] int landlock_abi();

// Below this, a process can truncate files that it cannot write.
inline constexpr int kLowestLandlockAbi = 3;

enum class LandlockAccess : std::uint8_t {
  kRead,    // and list and execute
  kWrite,   // and everything else
  kDevice,  // read and write, but no ioctl of its own
};

struct LandlockRule {
  int beneath = -1;  // borrowed: a file, or a directory with all below it
  bool is_directory = true;
  LandlockAccess access = LandlockAccess::kRead;
};

// Forbids every access to files that no rule allows; every TCP port (ABI 4); every abstract socket and every signal to
// a process outside (ABI 6). Fails below kLowestLandlockAbi.
[[nodiscard]] Result<UniqueFd> make_landlock_ruleset(std::span<const LandlockRule> rules);

}  // namespace sallyport
