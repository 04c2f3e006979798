// The jail built by an OCI runtime (C22, C40): the same view as the native one, as a bundle's config.json and root directory.
//
// Both are pure functions of the plan and the view. The runtime mounts by name, so it follows a path swapped at that
// moment. Therefore our own init, process 1 of the container, first compares every such mount with the file that was
// checked, as inside bwrap (ADR 0010). The runtime makes a user namespace in which we are root, since it maps no other
// id. Our init enters one more below it, in which that root is the jail's user, and takes the last locks there itself
// (ADR 0086).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "spawn/wire/launch_spec.h"
#include "spawn/wire/root_ops.h"

namespace sallyport::oci {

// runc makes a container on this kernel. runsc (gVisor) starts its own kernel, to which no descriptor can be passed:
// our init inside sends and receives frames (spawn/wire/frame.h), and cannot see files' identities on the host.
enum class Runtime { kRunc, kRunsc };

struct Inputs {
  Runtime runtime = Runtime::kRunc;
  std::vector<std::string> argv{};  // the tool's, with an interpreter's prefix already in it
  BinaryIdentity exe{};             // the executed file: the tool or its interpreter
  std::vector<ViewEntry> view{};
  // The identity that a bind's source had when it was checked; system paths need none.
  spawn::IdentityOf identity_of{};
  UserIds outside{};               // the tool's user outside
  std::uint32_t umask = 022;       // the caller's
  std::uint32_t cgroup_count = 0;  // that our init passes on to the tool
};

// Refuses names that JSON cannot express.
[[nodiscard]] Status check_names(const std::vector<ViewEntry>& view);

// The bundle's config.json. Its root directory is "rootfs", beside it.
[[nodiscard]] std::string render_config(const Plan& plan, const Inputs& inputs);

// What that directory holds: directories, symlinks, files, and copies, parents first. The runtime makes mount points
// itself.
[[nodiscard]] std::vector<ViewEntry> render_root(const std::vector<ViewEntry>& view);

// The runtime's command line; `directory` holds "bundle" and "state".
[[nodiscard]] std::vector<std::string> render_command(const Inputs& inputs, const std::string& directory);

// What our init inside does: the same last steps as in the native jail.
[[nodiscard]] spawn::LaunchSpec render_inner(const Plan& plan, const Inputs& inputs);

}  // namespace sallyport::oci
