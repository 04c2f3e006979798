// The user as whom root runs a tool over another user's directory (ADR 0066).
#pragma once

#include <filesystem>
#include <optional>

#include "sallyport/plan.h"

namespace sallyport {

// The directory's owner, when this process is root and may become that user; nullopt when it is a plain user, when root
// owns the directory, or when the owner cannot be determined.
[[nodiscard]] std::optional<UserIds> owner_to_run_as(const std::filesystem::path& directory);

}  // namespace sallyport
