// The verdict of a run that is over: what we did to it comes first, then what the kernel counted, then its own end.
#pragma once

#include <cstdint>
#include <span>

#include "sallyport/limits.h"
#include "sallyport/outcome.h"
#include "spawn/owner/supervise.h"

namespace sallyport {

// A refusal of egress decides only when the tool then failed; one that coped has its own end, with the denials listed. In strict
// mode it always decides: a tool that is quick to leave after it must not look as if it had been obedient.
enum class NetworkMode { kLenient, kStrict };
[[nodiscard]] Outcome verdict(const spawn::Ended& ended, std::uint64_t oom_kills, const Limits& limits,
                              std::span<const Denial> denials, NetworkMode network = NetworkMode::kLenient);

}  // namespace sallyport
