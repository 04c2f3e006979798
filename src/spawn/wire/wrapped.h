// What a wrapper's jails (bwrap, an OCI runtime, a container engine) have in common: our init stands inside a root that somebody else
// has built, and is told the same things. Pure.
#pragma once

#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/plan.h"
#include "spawn/wire/launch_spec.h"
#include "spawn/wire/root_ops.h"

namespace sallyport::spawn {

// The jail adds its executable and its writable places.
[[nodiscard]] JailPlace wrapped_place(const Plan& plan);

// The init compares what stands at a bind's target with the file that was checked; of other entries, and of those that
// `identity_of` does not know, there is nothing to compare.
void add_identity_check(const ViewEntry& entry, const IdentityOf& identity_of, std::vector<RootOp>& ops);

}  // namespace sallyport::spawn
