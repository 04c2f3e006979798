// What the jails of all wrappers (bwrap, an OCI runtime, a container engine) share: our init runs inside a root that
// the wrapper has built, and gets the same orders. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/plan.h"
#include "spawn/wire/helper_start.h"
#include "spawn/wire/launch_spec.h"
#include "spawn/wire/root_ops.h"

namespace sallyport::spawn {

// Where our init stands inside each of them.
inline constexpr std::string_view kInitPath = "/.sallyport-init";

// The one argument of our init, as it stands in somebody's command line.
[[nodiscard]] std::string init_argument(const wire::HelperStart& start);

// The jail adds its executable and its writable places.
[[nodiscard]] JailPlace wrapped_place(const Plan& plan);

// The init compares a bind's target with the file that was checked. Adds nothing for other entries, nor for those that
// `identity_of` does not know.
void add_identity_check(const ViewEntry& entry, const IdentityOf& identity_of, std::vector<RootOp>& ops);

}  // namespace sallyport::spawn
