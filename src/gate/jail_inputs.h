// What a jail needs to know about the host for one run: the view's inputs, and which file each bind's source was.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/view/fs_view.h"
#include "core/view/view_guarantees.h"
#include "gate/prepare.h"
#include "sallyport/result.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport {

struct JailInputs {
  std::vector<ViewEntry> view;
  std::map<std::string, spawn::FileIdentity> identities;
  std::vector<LostGuarantee> lost;  // by what the view shows

  [[nodiscard]] std::optional<spawn::FileIdentity> identity_of(const std::string& path) const {
    const auto found = identities.find(path);
    if (found == identities.end()) return std::nullopt;
    return found->second;
  }
};

// `home` may be empty. A repo that contains it is refused: nothing of the caller's home may come along by accident.
[[nodiscard]] Result<JailInputs> jail_inputs(const Prepared& prepared, const HostLayout& host, const std::string& home);

}  // namespace sallyport
