// Every configuration key of npm 6 to 12, classified: those a project's .npmrc must not decide, with the value that is
// pinned in their place, and those that are harmless. A key in neither list is refused on a command line; a test
// compares the lists with the keys of the installed npm.
//
// Why pins: a project's .npmrc, and that of a git dependency while npm prepares it, is the adversary's. npm ranks
// command line > environment > project > user > global > defaults, so a variable outranks every .npmrc and reaches the
// npm that npm itself starts. It also outranks the operator's own ~/.npmrc; where an operator may need another value, a
// caller can say so on the command line (NpmPin::caller_may).
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
  // As npm's own default behaves. A blank is an empty string to npm: it ignores a variable that is really empty.
  std::string_view value;
  std::string_view why;          // what the key would do in a hostile .npmrc
  bool caller_may = false;       // a caller may choose another value, by name, on the command line
  NpmVersion since{0, 0};        // npm 11 and later warn about a variable they do not know
  NpmVersion until{1 << 20, 0};  // the first version that no longer knows it
};

// What npm is told to start for git while git dependencies are off: nothing, by a name that explains itself.
inline constexpr std::string_view kNoGit = "/dev/null/git-dependencies-are-not-allowed";

[[nodiscard]] std::span<const NpmPin> npm_pins();
// Keys with a pin that depends on where npm and node are installed; fit_to_npm() makes it.
[[nodiscard]] std::span<const NpmPin> npm_layout_pins();
// Keys of commands that are refused here (npm init, npm patch, npm publish, npm exec): nothing reads them.
[[nodiscard]] std::span<const std::string_view> npm_unreachable_keys();
// Keys that neither name a program, a file or another configuration, nor lead npm to act elsewhere, by how npm's parser
// (nopt) reads them: a flag; with a value after "="; with a value after "=" or in the next word.
[[nodiscard]] std::span<const std::string_view> npm_flag_keys();
[[nodiscard]] std::span<const std::string_view> npm_one_word_keys();
[[nodiscard]] std::span<const std::string_view> npm_valued_keys();

// "npm_config_script_shell"
[[nodiscard]] std::string npm_variable(std::string_view key);

}  // namespace sallyport::hardening
