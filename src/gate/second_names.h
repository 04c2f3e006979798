// Whether what a run shows is what its paths say: a bind mount gives a directory a second name, and what the plan promises of
// one name would not hold for the other.
#pragma once

#include <filesystem>
#include <string>

#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// Refuses a call
//   - that may write something by one name which another of its paths, or the system, has by a second one;
//   - that shows by a second name what it hides, or the home directory.
// `home` is the caller's, canonical, or empty.
[[nodiscard]] Status check_second_names(const Plan& plan, const std::string& home);

// Whether something of one can be reached below the other by another name. Two paths on one mount have one name each. An
// error when it cannot be known. Both canonical as far as they exist.
[[nodiscard]] Result<bool> have_second_names(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace sallyport
