// A plan made ready for one jail, with the gate's own part in what it will establish.
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

// Refuses, before anything starts, a run that its jail cannot give what the caller requires or limits (C26).
[[nodiscard]] Result<Staging> stage(Jail& jail, EngineCallHost& host, const Prepared& prepared, Purpose purpose,
                                    bool another_follows = false);

// The same for a run that has started, by what it reported: a jail may establish less than it announced.
[[nodiscard]] Status check_established(const Jail& jail, const StagedRun& run, const RunFacts& facts,
                                       const EngineCallHost& host, const Prepared& prepared);

// What the jail established, and the gate for it, less what the view or a doubt takes away.
[[nodiscard]] std::vector<Established> with_gates_part(std::vector<Established> by_jail, const EngineCallHost& host,
                                                       const Prepared& prepared);

}  // namespace sallyport
