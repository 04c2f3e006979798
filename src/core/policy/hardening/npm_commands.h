// The npm commands that a caller may use. npm completes abbreviated commands, so we accept only whole names.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {

struct NpmCommand {
  std::string_view name;
  bool takes_packages = false;  // its arguments are packages to fetch
  bool runs_scripts = false;    // of the repo's
  bool writes = false;          // package.json and the lock files
  // Its first argument must be one of these, separated by blanks; empty: any. "-" means no argument at all.
  std::string_view verbs{};
};

[[nodiscard]] std::span<const NpmCommand> npm_commands();
[[nodiscard]] const NpmCommand* find_npm_command(std::string_view name);
[[nodiscard]] std::vector<std::string_view> npm_command_names();
// True when `verb` (empty: none) may follow the command.
[[nodiscard]] bool takes_verb(const NpmCommand& command, std::string_view verb);

// `words` of argv are the command itself: "npx", or "npm exec".
[[nodiscard]] Result<HardenedCommand> harden_npm_exec(Argv argv, std::size_t words);

}  // namespace sallyport::hardening
