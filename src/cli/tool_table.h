// Readiness of the closed set's tools (C29): which are here, which version, where, and how to get the others.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/environment.h"
#include "core/json/json.h"
#include "sallyport/allowlist.h"

namespace sallyport::cli {

struct ToolRow {
  enum class State { kPresent, kMissing, kRefused, kNotApplicable };
  std::string name{};
  Need need = Need::kOptional;
  State state = State::kMissing;
  BinaryIdentity binary{};
  std::vector<std::string> writers{};  // who could put another there
  std::string version{};               // as it says itself, behind the jail; empty: it does not, or it is a wrapper
  std::string tested{};                // the newest version we tried; empty: none
  std::string problem{};  // why it is refused: somebody else could have put it there, or it cannot be executed
  std::string install{};  // the command for this system
};

// Looks for every tool of the built-in set and asks those that are here for their version, each behind the jail. The answers
// are remembered under the user's cache directory by the file's identity.
[[nodiscard]] std::vector<ToolRow> look_at_tools(const Environment& environment);

[[nodiscard]] bool lacks_mandatory(const std::vector<ToolRow>& rows);
// A table; in colour on a terminal.
[[nodiscard]] std::string tools_text(const std::vector<ToolRow>& rows, bool colour);
[[nodiscard]] Json tools_json(const std::vector<ToolRow>& rows);

// Whoever may write the file or a directory on the way to it, or own one: "root", "you", "uid 7", "gid 7", "everyone". Root is
// always among them.
[[nodiscard]] std::vector<std::string> writers_of(const std::filesystem::path& path);

// Pure: an install hint for Debian, as the system of this /etc/os-release has it.
[[nodiscard]] std::string install_command(std::string_view hint, std::string_view os_release);
// Pure: the first thing that looks like a version, "2.39.5" of "git version 2.39.5".
[[nodiscard]] std::string version_in(std::string_view text);

}  // namespace sallyport::cli
