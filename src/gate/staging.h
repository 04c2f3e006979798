// Prepares a plan for one jail, and adds the guarantees that the gate itself establishes.
#pragma once

#include <memory>
#include <vector>

#include "gate/call_host.h"
#include "gate/prepare.h"
#include "sallyport/jail_port.h"

namespace sallyport {

struct Staging {
  std::unique_ptr<StagedRun> run;
  std::vector<Established> would_establish;
};

// Refuses, before anything starts, a run whose jail cannot give the guarantees or limits that the caller asks for
// (C26).
[[nodiscard]] Result<Staging> stage(Jail& jail, EngineCallHost& host, const Prepared& prepared, Purpose purpose,
                                    bool another_follows = false);

// The same for a run that has started, by its report: a jail may establish less than it announced.
[[nodiscard]] Status check_established(const Jail& jail, const StagedRun& run, const RunFacts& facts,
                                       const EngineCallHost& host, const Prepared& prepared);

// What the jail and the gate establish, without the guarantees that the jail never gives, or that the view or a doubt removes.
[[nodiscard]] std::vector<Established> with_gates_part(const Jail& jail, std::vector<Established> by_jail,
                                                       const EngineCallHost& host, const Prepared& prepared);

}  // namespace sallyport
