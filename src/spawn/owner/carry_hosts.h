// The allowed hosts of a jail whose wrapper carries frames to our init inside (wire/carried.h).
#pragma once

#include "sallyport/plan.h"
#include "sallyport/result.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {

// Which addresses and ports our init listens at; nothing for a plan without hosts. InvalidRequest when they are too many.
[[nodiscard]] Result<NetworkSpec> carried_network(const Plan& plan);

}  // namespace sallyport::spawn
