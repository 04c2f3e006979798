// Checks that no path of a run has a second name: a bind mount gives a directory a second name, and the plan's promises
// for one name would not hold for the other.
#pragma once

#include <filesystem>
#include <string>

#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// Refuses a call
//   - that may write by one name what another of its paths, or the system, shows by a second name;
//   - that shows by a second name what it hides, or the home directory.
// `home` is the caller's, canonical, or empty.
[[nodiscard]] Status check_second_names(const Plan& plan, const std::string& home);

// True when something below one can be reached below the other by another name. Two paths on one mount have one name
// each. An error when that cannot be determined. Both are canonical as far as they exist.
[[nodiscard]] Result<bool> have_second_names(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace sallyport
