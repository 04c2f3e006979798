// What the gate adds to every call of a tool (C25, C28): fixed arguments and variables, and a refusal of arguments that
// would undo them or make the tool start something else. Pure: argv in, argv out.
//
// Promises for every tool: the result starts with argv[0] and holds the caller's arguments, all of them, in their
// order.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/policy/hardening/facts.h"
#include "core/policy/hardening/git_overrides.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

struct HardenedCommand {
  std::vector<std::string> argv;
  std::vector<EnvVar> env;  // overrides the filtered environment
  std::vector<FileRule> files{};
  std::string needs_jail{};  // why this call must not run without a jail: it runs code of the repo
  std::string needs_host{};  // the argument that makes the tool fetch; refused when no host is allowed
  std::size_t inner_at = 0;  // where in argv another tool's command starts that this tool will run; 0: nowhere
};

// `argv` holds at least the tool's name; the entry was admitted (Allowlist::admit) beforehand. `git` is what git has
// listed, for a tool that is git or starts git.
[[nodiscard]] Result<HardenedCommand> harden(const ToolEntry& tool, std::span<const std::string> argv,
                                             const GitConfiguration& git = {});

// The command by which git lists the repo's configuration before this command runs (ADR-0026).
struct GitQuestion {
  bool tool_is_git = false;           // else the tool may start git; on a host without git there is no question
  std::vector<std::string> argv{};    // lists the configuration
  std::filesystem::path directory{};  // the command's -C directory, relative to the working directory
  std::filesystem::path work_tree{};  // chosen by the caller
  bool names_git_dir = false;
  bool changes_index = false;      // afterwards there may be other submodules
  bool enters_submodules = false;  // the command starts git inside them, which reads their configuration
};
[[nodiscard]] std::optional<GitQuestion> git_question(const ToolEntry& tool, std::span<const std::string> argv);

// The same, and the tool that this one starts (strace) is admitted from the same set and hardened too.
[[nodiscard]] Result<HardenedCommand> harden(const Allowlist& allowlist, const ToolEntry& tool,
                                             std::span<const std::string> argv, const GitConfiguration& git = {});

// Whether its jail lets the tool trace what it starts (strace).
[[nodiscard]] bool may_trace(const ToolEntry& tool);
// Whether the gate reads beforehand where npm's own configuration lies: for npm and npx.
[[nodiscard]] bool reads_npm_layout(const ToolEntry& tool);

// The words that a caller may pass to a tool with closed lists of commands and options; empty for a tool that accepts
// everything that is not refused.
[[nodiscard]] hardening::AdmittedWords admitted_words(const ToolEntry& tool);

// The rows of docs/hardening.md, as views of text that lives as long as the program.
[[nodiscard]] std::vector<hardening::HardeningFact> hardening_facts(const ToolEntry& tool);

}  // namespace sallyport
