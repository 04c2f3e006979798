// Which git commands a caller may use, and which of their options are refused.
#pragma once

#include <string_view>

#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {

// Which fixed options a command needs so that a diff runs no program that the repo chooses.
enum class DiffOptions { kNone, kTextconv, kAll };

struct GitCommand {
  std::string_view name;
  DiffOptions diff = DiffOptions::kNone;
  std::string_view refused_shorts = {};
  std::string_view shorts_with_value = {};  // these end the search in a cluster such as "-eOUT"
};

[[nodiscard]] std::span<const GitCommand> git_commands();
// nullptr when the command is not in the closed list.
[[nodiscard]] const GitCommand* find_git_command(std::string_view name);
[[nodiscard]] std::string git_command_hint(std::string_view name);

struct RefusedGitOption {
  std::string_view option;
  std::string_view why;
  std::string_view command = {};  // empty: with every command
};
[[nodiscard]] std::span<const RefusedGitOption> refused_git_options();

// The arguments after the command's name.
[[nodiscard]] Status check_git_arguments(const GitCommand& command, Argv arguments);

// What may be said to git, of these tables and of git_globals.h.
[[nodiscard]] AdmittedWords git_admitted();

}  // namespace sallyport::hardening
