// The first stage: the lock file, read or made, and what is found in it.
#pragma once

#include <string>
#include <vector>

#include "jobs/validate/lockfile.h"
#include "jobs/validate/recognise.h"
#include "jobs/validate/stage_run.h"

namespace sallyport::jobs {

struct LockOutcome {
  StageResult stage{.stage = StageId::kLock};
  Lockfile lock{};
  bool is_readable = false;  // then the next stages can run, whatever the findings are
};

[[nodiscard]] LockOutcome run_lock_stage(const StageSetup& setup, NpmProject project);

// "left-pad", "@scope/name": what npm takes for the name of a package on a registry, and nothing that it takes for more.
[[nodiscard]] bool is_package_name(std::string_view name);

}  // namespace sallyport::jobs
