// The closed set in force: the built-in one, or the one in a file the user named. Never one found by searching (C3).
#pragma once

#include <filesystem>
#include <optional>

#include "sallyport/allowlist.h"
#include "sallyport/result.h"

namespace sallyport {

// A policy is believed only where nobody but the caller or root could have put or changed it: the file and every directory and
// symlink on the way (locate/trust.h). One inside `repo` is refused too: the scanned repo must not say what may be run over it.
// `repo` is canonical; empty: none.
[[nodiscard]] Result<Allowlist> load_allowlist(const std::optional<std::filesystem::path>& policy,
                                               const std::filesystem::path& repo = {});

}  // namespace sallyport
