// The one way to let npm run lifecycle scripts: sallyport/allow_package_scripts.h.
#pragma once

#include <span>

#include "core/policy/hardening.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport::hardening {

// Removes `--ignore-scripts` from a hardened npm command, or says why it cannot. `argv` is the caller's own.
[[nodiscard]] Status let_scripts_run(const ToolEntry& tool, std::span<const std::string> argv,
                                     std::span<const HostRule> hosts, HardenedCommand& command);

}  // namespace sallyport::hardening
