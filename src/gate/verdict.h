// The verdict on a finished run: what we did to it comes first, then what the kernel counted, then its own end.
#pragma once

#include <cstdint>
#include <span>

#include "sallyport/limits.h"
#include "sallyport/outcome.h"
#include "spawn/owner/supervise.h"

namespace sallyport {

// A refusal of egress decides the verdict only if the tool then failed; a tool that coped keeps its own end, with the
// denials listed. In strict mode the refusal always decides: a tool that exits quickly after it must not look obedient.
enum class NetworkMode { kLenient, kStrict };
[[nodiscard]] Outcome verdict(const spawn::Ended& ended, std::uint64_t oom_kills, const Limits& limits,
                              std::span<const Denial> denials, NetworkMode network = NetworkMode::kLenient);

}  // namespace sallyport
