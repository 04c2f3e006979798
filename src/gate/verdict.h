// The verdict of a run that is over: what we did to it comes first, then what the kernel counted, then its own end.
#pragma once

#include <cstdint>
#include <span>

#include "sallyport/limits.h"
#include "sallyport/outcome.h"
#include "spawn/owner/supervise.h"

namespace sallyport {

// A refusal of egress decides only when the tool then failed; one that coped has its own end, with the denials listed.
[[nodiscard]] Outcome verdict(const spawn::Ended& ended, std::uint64_t oom_kills, const Limits& limits,
                              std::span<const Denial> denials);

}  // namespace sallyport
