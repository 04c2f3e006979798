// The native Linux jail: renders a file system view into the steps the spawn helper takes. Pure: the caller passes in
// the identities of host paths.
#pragma once

#include <string>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "spawn/wire/launch_spec.h"
#include "spawn/wire/root_ops.h"

namespace sallyport::native {

struct Inputs {
  std::vector<std::string> argv{};  // with an interpreter's prefix already in it
  BinaryIdentity exe{};             // the executed file: the tool or its interpreter
  std::vector<ViewEntry> view{};
  spawn::IdentityOf identity_of{};
};

[[nodiscard]] spawn::LaunchSpec render(const Plan& plan, const Inputs& inputs);

// The part that is the same for every run on this host, so that it can be built before there is a run.
[[nodiscard]] spawn::JailShape render_base(const HostRoot& host);

}  // namespace sallyport::native
