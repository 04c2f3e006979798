// Secrets out of what the audit log keeps. By rule, on bytes, and pure: what a rule knows is replaced by "[redacted]"; too much
// rather than too little. docs/audit.md lists the rules.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::audit {

inline constexpr std::string_view kRedacted = "[redacted]";

// Text from anywhere (a message, a path, a host): credentials in URLs, NAME=VALUE and "name: value" with the name of a secret,
// Authorization values, and the shapes of well-known keys.
[[nodiscard]] std::string redact_text(std::string_view text);

struct RedactedArgv {
  std::vector<std::string> argv{};
  std::size_t count = 0;               // words that were changed
  std::vector<std::string> secrets{};  // what was taken out: to be found again in messages; never to be written
};
// The same for each word of a command, and what only its place tells: the word after --password, `-u user:password`.
[[nodiscard]] RedactedArgv redact_argv(std::span<const std::string> argv);

// redact_text, after what was taken out of the command: a message may quote it.
[[nodiscard]] std::string redact_text(std::string_view text, std::span<const std::string> secrets);

// Whether a variable, option, header or key of this name holds a secret: "GITHUB_TOKEN", "--api-key", "X-Auth-Token".
[[nodiscard]] bool names_secret(std::string_view name);

}  // namespace sallyport::audit
