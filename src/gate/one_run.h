// For a program that makes one jailed run and ends.
#pragma once

#include <memory>

#include "sallyport/gate.h"

namespace sallyport {

// Like Gate::open, but a native jail is a child of this process, without a server in between, and starts as soon as its
// call is admitted, while the gate still plans the run. The run does not see what the host mounts after that. The same
// holds for a microvm, whose machine stands in a native jail; for other jails nothing changes.
[[nodiscard]] Result<std::unique_ptr<Gate>> open_gate_for_one_run(GateConfig config);

}  // namespace sallyport
