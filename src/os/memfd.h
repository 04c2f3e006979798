// An anonymous file that nobody can change: first the content, then every seal.
#pragma once

#include <string>
#include <string_view>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

// Sealed against writing, growing, shrinking and unsealing, and never executable (Linux 6.3); CLOEXEC; offset at 0.
// `name` shows up in /proc only.
[[nodiscard]] Result<UniqueFd> sealed_memfd(const std::string& name, std::string_view content);

}  // namespace sallyport
