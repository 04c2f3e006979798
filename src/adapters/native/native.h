// The native Linux jail: renders a file system view into the steps the spawn helper takes. Pure: identities of host
// paths are passed in, nothing is looked up.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fs_view.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "spawn/launch_spec.h"

namespace sallyport::native {

inline constexpr const char* kJailName = "native";

struct Inputs {
  std::vector<std::string> argv{};  // with an interpreter's prefix already in it
  BinaryIdentity exe{};             // what is executed: the tool or its interpreter
  std::vector<ViewEntry> view{};
  // Which file a bind's source was when it was checked; system paths need none.
  std::function<std::optional<spawn::FileIdentity>(const std::string&)> identity_of{};
};

[[nodiscard]] spawn::LaunchSpec render(const Plan& plan, const Inputs& inputs);

}  // namespace sallyport::native
