// For a program that makes one jailed run and ends.
#pragma once

#include <memory>

#include "sallyport/gate.h"

namespace sallyport {

// Gate::open, but the run's jail is started at once, while the caller finds out what to run, and is a child of this
// process without a server between. The run does not see what the host mounts from now on. A further run starts another.
[[nodiscard]] Result<std::unique_ptr<Gate>> open_gate_for_one_run(GateConfig config);

}  // namespace sallyport
