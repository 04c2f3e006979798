// The allowed hosts of a jail whose wrapper carries frames to our init inside (wire/carried.h).
#pragma once

#include "sallyport/plan.h"
#include "sallyport/result.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {

// The addresses and ports at which our init listens; none for a plan without hosts. InvalidRequest when there are too
// many.
[[nodiscard]] Result<NetworkSpec> carried_network(const Plan& plan);

}  // namespace sallyport::spawn
