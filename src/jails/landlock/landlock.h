// The jail for hosts without user namespaces (C40): the tool stays in the host's namespaces, confined by Landlock and
// seccomp, and without privileges. The places that it may use are a pure function of the plan and the view.
//
// What other jails show by mounts, this jail shows at the host's own paths, or not at all: there is no /work, the tool
// cannot enter /tmp, TMPDIR and HOME lead to private directories, and the tool can still stat a hidden file by its
// name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/view/host_view.h"
#include "os/landlock.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "sallyport/result.h"
#include "spawn/wire/root_ops.h"

namespace sallyport::landlock {

// A host path that the tool may use.
struct Place {
  std::string path{};
  bool is_directory = true;
  LandlockAccess access = LandlockAccess::kRead;
  std::optional<FileIdentity> identity{};  // the identity that it must still have; none for system paths
  bool may_be_missing = false;             // a host may lack it
  bool operator==(const Place&) const = default;
};

struct Inputs {
  const std::vector<ViewEntry>& view;
  spawn::IdentityOf identity_of{};
  std::string private_dir{};  // holds the run's own "tmp" and "home"
};

[[nodiscard]] std::vector<Place> render_places(const Inputs& inputs);
// "read     /usr", one line.
[[nodiscard]] std::string describe(const Place& place);

// The plan's environment, with HOME and TMPDIR in the private directory, without other names for the latter; and how libc must
// resolve hosts.
[[nodiscard]] std::vector<EnvVar> environment(const Plan& plan, const std::string& private_dir);

[[nodiscard]] std::string seccomp_for(const Plan& plan);

// Refuses what Landlock cannot express: the caller's certificates, a disk limit, anything closed inside something open.
[[nodiscard]] Status check_plan(const Plan& plan);
[[nodiscard]] Status check_view(const Plan& plan, const std::vector<ViewEntry>& view);

// `abi`: the kernel's Landlock version. Below kScopesAbi a tool can kill its worker, and then what it started lives on.
inline constexpr int kScopesAbi = 6;
[[nodiscard]] std::vector<Established> establishes(const Plan& plan, int abi);

}  // namespace sallyport::landlock
