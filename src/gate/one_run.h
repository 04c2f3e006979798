// For a program that makes one jailed run and ends.
#pragma once

#include <memory>

#include "os/host_layout.h"
#include "sallyport/gate.h"
#include "spawn/server.h"

namespace sallyport {

// The jail of that run, begun before anybody knows what will run in it: it is told what every jail of this host has.
struct BegunJail {
  explicit BegunJail(spawn::BegunHelper helper);

  const HostLayout host;
  spawn::SpawnServer server;
};

// Gate::open, but the run's jail is begun at once, while the caller finds out what to run, and is a child of this process
// without a server between; `begun` is that jail if there is one already. What the host mounts from now on is not seen by
// the run. A further run begins another.
[[nodiscard]] Result<std::unique_ptr<Gate>> open_gate_for_one_run(GateConfig config,
                                                                  std::unique_ptr<BegunJail> begun = nullptr);

}  // namespace sallyport
