// What makes an entry of a closed set well governed (C3, C4, C28), whoever wrote it: a policy file or a program.
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
