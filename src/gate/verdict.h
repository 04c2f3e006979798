// The verdict of a run that is over: what we did to it comes first, then what the kernel counted, then its own end.
#pragma once

#include <cstdint>

#include "sallyport/limits.h"
#include "sallyport/outcome.h"
#include "spawn/supervise.h"

namespace sallyport {

[[nodiscard]] Outcome verdict(const spawn::Ended& ended, std::uint64_t oom_kills, const Limits& limits);

}  // namespace sallyport
