// Every hardening, one row each (C28). A tool's entry names its row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/hardening.h"
#include "core/policy/hardening/facts.h"

namespace sallyport::hardening {

struct HardeningRow {
  std::string_view name;
  Result<HardenedCommand> (*harden)(std::span<const std::string> argv, const GitConfiguration& git);
  std::vector<HardeningFact> (*facts)();
  // Set for git and for tools that may start it.
  std::optional<GitQuestion> (*git_question)(std::span<const std::string> argv) = nullptr;
  // Set for tools whose commands and options are closed lists.
  AdmittedWords (*admitted)() = nullptr;
};

// Null for an unknown name.
[[nodiscard]] const HardeningRow* find_hardening(std::string_view name);
[[nodiscard]] std::vector<std::string_view> hardening_names();

}  // namespace sallyport::hardening
