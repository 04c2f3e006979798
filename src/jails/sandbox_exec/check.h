// What the macOS jail refuses in a plan, and what it establishes: pure.
#pragma once

#include <string>
#include <vector>

#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "sallyport/result.h"

namespace sallyport::sandbox_exec {

// Refuses limits that macOS has no means for, certificates, and another user's ids.
[[nodiscard]] Status check_plan(const Plan& plan);

[[nodiscard]] std::vector<Established> establishes(const Plan& plan);

// What belongs to one run.
struct RunsOwn {
  std::string private_dir{};
  std::string proxy_url{};  // empty: no network
};

// The plan's environment, with HOME and TMPDIR in the private directory, without other names for the latter; and with HTTPS_PROXY if
// the run has a network, without it otherwise.
[[nodiscard]] std::vector<EnvVar> environment(const Plan& plan, const RunsOwn& own);

}  // namespace sallyport::sandbox_exec
