// As whom a run of root's over somebody else's directory is made (ADR 0066).
#pragma once

#include <filesystem>
#include <optional>

#include "sallyport/plan.h"

namespace sallyport {

// The directory's owner, when this process is root and may become them; nullopt when it is a plain user, when the directory is
// root's own, or when nobody can say whose it is.
[[nodiscard]] std::optional<UserIds> owner_to_run_as(const std::filesystem::path& directory);

}  // namespace sallyport
