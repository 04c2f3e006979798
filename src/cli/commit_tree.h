// The tree behind a commit, for attestations (ADR 0095).
#pragma once

#include <filesystem>
#include <string>

#include "cli/environment.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// Asks git, in a jail, and trusts the answer only because the commit's id is its hash. The repo may no longer have the
// commit, or be gone: then this is an error, and there is nothing to attest.
[[nodiscard]] Result<std::string> commit_tree(const std::filesystem::path& repo, const std::string& commit,
                                              const Environment& environment);

}  // namespace sallyport::cli
