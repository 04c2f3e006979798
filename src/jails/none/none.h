// The adapter without a jail: run_allowlisted uses it, and run_external_cli where no jail is usable (C17).
#pragma once

#include <string>
#include <vector>

#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport::none {

inline constexpr const char* kJailName = "none";

struct Inputs {
  int exe_fd = -1;                  // borrowed, checked
  int cwd_fd = -1;                  // borrowed, checked
  std::vector<std::string> argv{};  // with an interpreter's prefix already in it
};

[[nodiscard]] spawn::LaunchSpec render(const Plan& plan, Inputs inputs);

// What every run through the gate has, jailed or not.
[[nodiscard]] std::vector<Established> establishes();

}  // namespace sallyport::none
