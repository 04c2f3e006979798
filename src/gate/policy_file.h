// The closed set in force: the built-in set, or the set in a file that the user named. We never search for such a file
// (C3).
#pragma once

#include <filesystem>
#include <optional>

#include "sallyport/allowlist.h"
#include "sallyport/result.h"

namespace sallyport {

// Reads a policy only if just the caller or root could have written or changed the file, and every directory and
// symlink on the way (locate/trust.h). Also refuses a policy inside `repo`: the scanned repo must not decide what may
// run over it. `repo` is canonical; empty: none.
[[nodiscard]] Result<Allowlist> load_allowlist(const std::optional<std::filesystem::path>& policy,
                                               const std::filesystem::path& repo = {});

}  // namespace sallyport
