// The rules that every entry of a closed set must follow (C3, C4, C28), from a policy file or a program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sallyport/allowlist.h"

namespace sallyport {

struct EntryProblem {
  std::string_view key{};  // as in a policy file
  std::string why{};
  std::string hint{};
};

// The first rule that the entry breaks.
[[nodiscard]] std::optional<EntryProblem> entry_problem(const ToolEntry& entry);

}  // namespace sallyport
