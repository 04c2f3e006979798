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

// What a plan opens, by which the jails decide what their receipts may list.
[[nodiscard]] bool may_write_the_host(const Plan& plan);
// A writable place around the repo could rename a directory above it, one inside is a part of it.
[[nodiscard]] bool may_write_the_repo(const Plan& plan);
[[nodiscard]] bool may_trace(const Plan& plan);

// The seccomp program for the plan's tool.
[[nodiscard]] std::string jail_seccomp(const Plan& plan);

// Whether Landlock, where the kernel has it, stands before everything read-only or only before the system.
enum class LandlockReach { kSystem, kEverything };

// What a run has once its tool has started in new namespaces, a new root, behind seccomp; either no network at all or
// only the plan's hosts. Without `facts`: what it would have, whatever else this kernel can do.
[[nodiscard]] std::vector<Established> jail_establishes(const Plan& plan, LandlockReach reach,
                                                        const std::optional<RunFacts>& facts = std::nullopt);

// Of a jail whose network is a loopback only, where our init carries connections out: the allowlist holds by that, or, where it turned
// out not to, is not listed.
void hold_by_carrying(std::vector<Established>& established, const std::optional<RunFacts>& facts);

}  // namespace sallyport
