// Every configuration key of npm 6 to 12, classified: those that a project's .npmrc must not set, with the value that
// we pin instead, and those that are harmless. We refuse a key in neither list on a command line; a test compares the
// lists with the keys of the installed npm.
//
// Why pins: the adversary writes a project's .npmrc, and that of a git dependency while npm prepares it. npm's
// precedence is command line > environment > project > user > global > defaults, so a variable overrides every .npmrc
// and reaches the npm that npm itself starts. It also overrides the operator's own ~/.npmrc; where an operator may need
// another value, a caller can set it on the command line (NpmPin::caller_may).
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>

namespace sallyport::hardening {

struct NpmVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const NpmVersion&) const = default;
};

struct NpmPin {
  std::string_view key;
  // Behaves like npm's own default. npm reads a blank as an empty string, and ignores an empty variable.
  std::string_view value;
  std::string_view why;          // what the key would do in a hostile .npmrc
  bool caller_may = false;       // a caller may set another value by name on the command line
  NpmVersion since{0, 0};        // npm 11 and later warn about a variable they do not know
  NpmVersion until{1 << 20, 0};  // the first version that no longer knows it
};

// The git program for npm while git dependencies are off: a missing file whose name explains why.
inline constexpr std::string_view kNoGit = "/dev/null/git-dependencies-are-not-allowed";

[[nodiscard]] std::span<const NpmPin> npm_pins();
// Keys whose pin depends on where npm and node are installed; fit_to_npm() makes it.
[[nodiscard]] std::span<const NpmPin> npm_layout_pins();
// Keys that only refused commands read (npm init, npm patch, npm publish, npm exec).
[[nodiscard]] std::span<const std::string_view> npm_unreachable_keys();
// Harmless keys: they name no program, file or other configuration, and do not make npm act elsewhere. Grouped by how
// npm's parser (nopt) reads them: a flag; with a value after "="; with a value after "=" or in the next word.
[[nodiscard]] std::span<const std::string_view> npm_flag_keys();
[[nodiscard]] std::span<const std::string_view> npm_one_word_keys();
[[nodiscard]] std::span<const std::string_view> npm_valued_keys();

// "npm_config_script_shell"
[[nodiscard]] std::string npm_variable(std::string_view key);

}  // namespace sallyport::hardening
