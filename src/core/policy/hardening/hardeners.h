// What a tool's hardening is made of. Each stands in a file of its own, which ends with its row; table.cc lists them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/hardening.h"
#include "core/policy/hardening/facts.h"
#include "core/policy/hardening/git_config.h"

namespace sallyport::hardening {

using Argv = std::span<const std::string>;  // with argv[0]

// All that is decided by a hardening's name, wherever it is decided (C28). A tool's entry names its row.
struct HardeningRow {
  std::string_view name;
  Result<HardenedCommand> (*harden)(Argv argv, const GitConfiguration& git);
  std::vector<HardeningFact> (*facts)();
  // Set for git and for tools that may start it.
  std::optional<GitQuestion> (*git_question)(Argv argv) = nullptr;
  // Set for tools whose commands and options are closed lists.
  AdmittedWords (*admitted)() = nullptr;
  bool may_trace = false;         // its jail lets the tool trace what it starts
  bool reads_npm_layout = false;  // where npm's own configuration lies is read before the start
};

// For every tool but git: their hardening needs only the arguments. The overrides for the configuration that git listed
// go to the git that such a tool may start.
template <auto kHarden>
Result<HardenedCommand> by_argv(Argv argv, const GitConfiguration& git) {
  HardenedCommand command = TRY(kHarden(argv));
  add_to_git_env_for_children(command.env, git);
  return command;
}

// The question before a tool that may start git by itself.
[[nodiscard]] std::optional<GitQuestion> of_a_tool_that_starts_git(Argv argv);

}  // namespace sallyport::hardening
