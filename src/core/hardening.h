// What a tool always gets, whoever calls it (C25, C28): fixed arguments and variables, and a refusal of the caller's
// arguments that would undo them or make the tool start something else. Pure: argv in, argv out.
//
// Promises for every tool: the result starts with argv[0] and holds the caller's arguments, all of them, in their
// order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

struct HardenedCommand {
  std::vector<std::string> argv;
  std::vector<EnvVar> env;  // set over the filtered environment; outranks everything in it
};

// `argv` holds at least the tool's name; the entry was admitted (Allowlist::admit) beforehand.
[[nodiscard]] Result<HardenedCommand> harden(const ToolEntry& tool, std::span<const std::string> argv);

}  // namespace sallyport
