// What only the repo shows about findings: the fingerprint of their line, and which files changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/report/context.h"

namespace sallyport::jobs {

// GitHub's line hash; for a finding without a line, or in a file past 16 MiB, a hash of rule, path and message.
void add_fingerprints(const std::filesystem::path& repo, std::vector<Finding>& findings);

// The files that differ from `base` (a commit or a branch), committed or not, and those git does not track. Sorted.
[[nodiscard]] std::variant<std::vector<std::string>, ScannerOutcome> changed_files(const JobContext& context,
                                                                                   std::string_view base);

}  // namespace sallyport::jobs
