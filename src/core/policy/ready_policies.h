// Policy files that come with the program (policies/*.toml, ADR 0045). Nothing takes one by itself: a person asks for its
// text, keeps it, and names it with --policy.
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

// One policy file of the named ones, each tool once; the first that has it decides. An error for a name that is none.
[[nodiscard]] Result<std::string> make_policy_text(std::span<const std::string> names);

// The ready policies that have this tool.
[[nodiscard]] std::vector<std::string_view> ready_policies_with(std::string_view tool);

}  // namespace sallyport
