// For a program that makes one jailed run and ends.
#pragma once

#include <memory>

#include "sallyport/gate.h"

namespace sallyport {

// Gate::open, but a native jail is a child of this process, without a server between, and is started as soon as its call is
// admitted, while the gate still plans the run. The run does not see what the host mounts from then on.
[[nodiscard]] Result<std::unique_ptr<Gate>> open_gate_for_one_run(GateConfig config);

}  // namespace sallyport
