// For a program that makes one jailed run and ends.
#pragma once

#include <memory>

#include "sallyport/gate.h"

namespace sallyport {

// Gate::open, but the run's jail is begun at once, while the caller finds out what to run, and is a child of this process
// without a server between. What the host mounts from now on is not seen by the run. A further run begins another.
[[nodiscard]] Result<std::unique_ptr<Gate>> open_gate_for_one_run(GateConfig config);

}  // namespace sallyport
