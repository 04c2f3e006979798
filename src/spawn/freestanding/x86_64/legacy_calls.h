// Calls that only older processors have, and that a tool may make. Included by freestanding/sys.h alone.
#pragma once

#include <asm/unistd.h>

namespace sallyport::spawn::helper::legacy {

inline constexpr int kChmod = __NR_chmod;
inline constexpr int kChown = __NR_chown;
inline constexpr int kLchown = __NR_lchown;

}  // namespace sallyport::spawn::helper::legacy
