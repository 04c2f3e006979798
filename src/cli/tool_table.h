// Readiness of the closed set's tools (C29): which are installed, which version, where, and how to get the others.
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
  std::vector<std::string> writers{};  // which users could replace it
  std::string version{};               // as the tool prints it, in the jail; empty: it does not, or it is a wrapper
  std::string tested{};                // the newest version we tried; empty: none
  std::string problem{};  // why it is refused: another user could have put it there, or it cannot be executed
  std::string install{};  // the command for this system
};

// Finds every tool of the built-in set and gets its version by running it in the jail. Caches the answers under the
// user's cache directory by the file's identity.
[[nodiscard]] std::vector<ToolRow> find_tools(const Environment& environment);

[[nodiscard]] bool lacks_mandatory(const std::vector<ToolRow>& rows);
// A table; in colour on a terminal.
[[nodiscard]] std::string tools_text(const std::vector<ToolRow>& rows, bool colour);
[[nodiscard]] Json tools_json(const std::vector<ToolRow>& rows);

// Users who may write, or own, the file or a directory on its path: "root", "you", "uid 7", "gid 7", "everyone". Always
// includes root.
[[nodiscard]] std::vector<std::string> writers_of(const std::filesystem::path& path);

// Pure: turns an install hint for Debian into the command for the system of this /etc/os-release.
[[nodiscard]] std::string install_command(std::string_view hint, std::string_view os_release);
// Pure: the first text that looks like a version, "2.39.5" of "git version 2.39.5".
[[nodiscard]] std::string version_in(std::string_view text);

}  // namespace sallyport::cli
