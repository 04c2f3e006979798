// The part of npm's hardening that depends on the npm that was found: it pins paths of its installation, and leaves out
// variables that its version does not know (npm 11 and later print a warning for each).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/hardening/npm_keys.h"
#include "sallyport/plan.h"

namespace sallyport::hardening {

// locate/npm_installation.h reads it from the installation. What could not be read stays empty, and is not pinned.
struct NpmLayout {
  std::optional<NpmVersion> version{};
  std::string root{};           // of npm's own package
  std::string prefix{};         // npm's default for "prefix"
  std::string global_config{};  // and for "globalconfig"
};

// "11.19.1"; nullopt when it is no version.
[[nodiscard]] std::optional<NpmVersion> parse_npm_version(std::string_view text);

// Call it with a hardened npm command: argv[0] is npm, `env` holds the pins.
void fit_to_npm(const NpmLayout& layout, std::vector<std::string>& argv, std::vector<EnvVar>& env);

}  // namespace sallyport::hardening
