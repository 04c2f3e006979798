// The certificates that a tool's TLS is to trust: the system's, and the operator's own (JailedSubprocessSpec::extra_ca).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sallyport/result.h"

namespace sallyport {

// Refuses a file without a PEM certificate. Adds the system's bundle if there is one.
[[nodiscard]] Result<std::string> read_ca_bundle(const std::filesystem::path& extra);

// For the owner's own TLS: the system's, and those of `extra`. Without any, no server is trusted.
[[nodiscard]] Result<std::string> trusted_certificates(const std::optional<std::filesystem::path>& extra);

}  // namespace sallyport
