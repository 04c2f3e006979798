// The variables that npm gets for every command.
#pragma once

#include <vector>

#include "core/policy/hardening/npm_packages.h"
#include "sallyport/plan.h"

namespace sallyport::hardening {

[[nodiscard]] std::vector<EnvVar> npm_env(const NpmSources& sources);

}  // namespace sallyport::hardening
