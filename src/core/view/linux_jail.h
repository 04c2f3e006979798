// What all Linux jails share, whichever program builds the namespaces.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/jail_kind.h"
#include "sallyport/jail_port.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"

namespace sallyport {

// HOME, in a directory that the tool may write to and that ends with the run.
[[nodiscard]] std::vector<EnvVar> jail_variables();

// What of `env` is neither one of the jail's `own` nor named in `without`, and then those of its own.
[[nodiscard]] std::vector<EnvVar> env_with(std::span<const EnvVar> env, std::span<const EnvVar> own,
                                           std::span<const std::string_view> without = {});
// The plan's environment with jail_variables().
[[nodiscard]] std::vector<EnvVar> jail_env(const Plan& plan);
// As execve(2) takes them: "NAME=value".
[[nodiscard]] std::vector<std::string> env_texts(std::span<const EnvVar> env);

// The host's file that is executed; JailUnavailable when the tool is one of an image.
[[nodiscard]] Result<const BinaryIdentity*> file_of_host(const Executable& executable, JailKind jail);

// What a plan opens: from this the jails decide what their receipts may list.
[[nodiscard]] bool may_write_the_host(const Plan& plan);
// True for a writable place around the repo, in which the run could rename a directory above the repo, or inside it.
[[nodiscard]] bool may_write_the_repo(const Plan& plan);

// The seccomp program for the plan's tool.
[[nodiscard]] std::string jail_seccomp(const Plan& plan);

// Whether Landlock, if the kernel has it, protects everything read-only or only the system.
enum class LandlockReach { kSystem, kEverything };
[[nodiscard]] LandlockReach landlock_reach(std::span<const ViewEntry> view);

// What a run has once its tool has started in new namespaces and a new root, under seccomp, with either no network or
// only the plan's hosts. Without `facts`: what it would have at least.
[[nodiscard]] std::vector<Established> jail_establishes(const Plan& plan, LandlockReach reach,
                                                        const std::optional<RunFacts>& facts = std::nullopt);

// For a jail whose network is only a loopback, where our init carries connections out: that enforces the host
// allowlist. If init does not report it, removes the allowlist from the list.
void hold_by_carrying(std::vector<Established>& established, const std::optional<RunFacts>& facts);

}  // namespace sallyport
