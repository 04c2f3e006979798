// For tests only: a call of a tool of the built-in set, and what becomes of it.
#pragma once

#include <string>
#include <vector>

#include "core/policy/hardening.h"

namespace sallyport::hardening {

using Args = std::vector<std::string>;

inline Result<HardenedCommand> hardened(const Args& argv) {
  return harden(*Allowlist::builtin().find(argv.front()), argv);
}

inline std::string message(const Result<HardenedCommand>& command) {
  return command ? "accepted" : command.error().message;
}

inline bool refused(const Args& argv) {
  const Result<HardenedCommand> command = hardened(argv);
  if (command) return false;
  const auto* request = command.error().as<InvalidRequest>();
  return request != nullptr && request->field == "argv" && !command.error().hint.empty();
}

}  // namespace sallyport::hardening
