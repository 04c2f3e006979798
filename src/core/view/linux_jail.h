// What the Linux jails have in common, whoever builds the namespaces.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sallyport/jail_port.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"

namespace sallyport {

// HOME, at a place the tool may write to and lose.
[[nodiscard]] std::vector<EnvVar> jail_variables();

// The plan's environment as "NAME=value", with the jail's own variables.
[[nodiscard]] std::vector<std::string> jail_env(const Plan& plan);

// The seccomp program for the plan's tool.
[[nodiscard]] std::string jail_seccomp(const Plan& plan);

// Whether Landlock, where the kernel has it, stands before everything read-only or only before the system.
enum class LandlockReach { kSystem, kEverything };

// What a run has once its tool has started in new namespaces, a new root, behind seccomp; either no network at all or
// only the plan's hosts. Without `facts`: what it would have, whatever else this kernel can do.
[[nodiscard]] std::vector<Established> jail_establishes(const Plan& plan, LandlockReach reach,
                                                        const std::optional<RunFacts>& facts = std::nullopt);

}  // namespace sallyport
