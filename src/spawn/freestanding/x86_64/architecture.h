// How the kernel names this processor's own ABI to a seccomp program. Included by freestanding/sys.h alone.
#pragma once

#include <linux/audit.h>

#include <cstdint>

namespace sallyport::spawn::helper {

inline constexpr std::uint32_t kOurArchitecture = AUDIT_ARCH_X86_64;

}  // namespace sallyport::spawn::helper
