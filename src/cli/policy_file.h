// The closed set in force: the built-in one, or the one in a file the user named. Never one found by searching (C3).
#pragma once

#include <filesystem>
#include <optional>

#include "sallyport/allowlist.h"
#include "sallyport/result.h"

namespace sallyport::cli {

[[nodiscard]] Result<Allowlist> load_allowlist(const std::optional<std::filesystem::path>& policy);

// As above, and a policy that lies inside `repo` once every symlink is followed is refused: the scanned repo must not
// say what may be run over it. `repo` is canonical.
[[nodiscard]] Result<Allowlist> load_allowlist_outside(const std::optional<std::filesystem::path>& policy,
                                                       const std::filesystem::path& repo);

}  // namespace sallyport::cli
