// Removes secrets from what the audit log keeps. It works by rules, on bytes, and is pure: it replaces what a rule
// matches by "[redacted]"; when in doubt, it removes too much. docs/audit.md lists the rules.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::audit {

inline constexpr std::string_view kRedacted = "[redacted]";

// For any text (a message, a path, a host); it finds credentials in URLs, NAME=VALUE and "name: value" with the name of
// a secret, Authorization values, and the shapes of well-known keys.
[[nodiscard]] std::string redact_text(std::string_view text);

struct RedactedArgv {
  std::vector<std::string> argv{};
  std::size_t count = 0;               // how many words changed
  std::vector<std::string> secrets{};  // what was removed, so that messages can be searched for it; never write these
};
// The same for each word of a command, and for words that only their position marks: the word after --password, `-u
// user:password`.
[[nodiscard]] RedactedArgv redact_argv(std::span<const std::string> argv);

// Like redact_text, but first removes `secrets`, which came from the command: a message may quote it.
[[nodiscard]] std::string redact_text(std::string_view text, std::span<const std::string> secrets);

// True when a variable, option, header or key of this name holds a secret: "GITHUB_TOKEN", "--api-key", "X-Auth-Token".
[[nodiscard]] bool names_secret(std::string_view name);

}  // namespace sallyport::audit
