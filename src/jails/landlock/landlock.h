// The jail for hosts without user namespaces (C40): the tool stays in the host's namespaces, behind Landlock, seccomp and no
// privileges. Which places it may use is a pure function of the plan and the view.
//
// What the other jails show by mounts is shown here at the host's own paths, or not at all: there is no /work, /tmp cannot be
// entered, TMPDIR and HOME lead to private directories, and a file that is hidden can still be asked about by its name.
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

inline constexpr const char* kJailName = "landlock";

// A host path that the tool may use.
struct Place {
  std::string path{};
  bool is_directory = true;
  LandlockAccess access = LandlockAccess::kRead;
  std::optional<FileIdentity> identity{};  // which file it must still be; none for the system's own
  bool may_be_missing = false;             // a host without it does without
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

// HOME and TMPDIR, in the private directory; and how libc is to ask for hosts.
[[nodiscard]] std::vector<EnvVar> own_variables(const Plan& plan, const std::string& private_dir);
// The plan's environment as "NAME=value", with those instead of its own.
[[nodiscard]] std::vector<std::string> render_env(const Plan& plan, const std::string& private_dir);

[[nodiscard]] std::string seccomp_for(const Plan& plan);

// Refuses what Landlock cannot say: certificates of the caller's, a disk limit, anything closed inside something open.
[[nodiscard]] Status check_plan(const Plan& plan);
[[nodiscard]] Status check_view(const Plan& plan, const std::vector<ViewEntry>& view);

// `abi`: of the kernel's Landlock. Below kScopesAbi a tool can kill its worker, and what it started earlier lives on.
inline constexpr int kScopesAbi = 6;
[[nodiscard]] std::vector<Established> establishes(const Plan& plan, int abi);

}  // namespace sallyport::landlock
