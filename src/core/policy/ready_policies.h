// Policy files that come with the program (policies/*.toml, ADR 0045). Nothing uses one automatically: a person prints
// its text, saves it, and names it with --policy.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/allowlist.h"
#include "sallyport/result.h"

namespace sallyport {

struct ReadyPolicy {
  std::string_view name;  // "node"
  std::string_view toml;
};

[[nodiscard]] std::span<const ReadyPolicy> ready_policies();

// Merges the named policies into one policy file, each tool once; the first policy with the tool decides. An error for
// an unknown name.
[[nodiscard]] Result<std::string> make_policy_text(std::span<const std::string> names);

// The ready policies that have this tool.
[[nodiscard]] std::vector<std::string_view> ready_policies_with(std::string_view tool);

}  // namespace sallyport
