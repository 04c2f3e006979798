// The built-in closed set as data. Its names equal kAllowedBinaries; a test pins both.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sallyport/allowlist.h"

namespace sallyport {

[[nodiscard]] std::vector<ToolEntry> builtin_entries();
// The hardening that a built-in tool always gets, even when a policy file admits it (C28); nullopt for other names.
[[nodiscard]] std::optional<std::string_view> builtin_hardening(std::string_view name);
// Wrappers stay wrappers in every policy (C4).
[[nodiscard]] bool is_builtin_wrapper(std::string_view name);
// The version that the tests of this tree really ran; empty where a stand-in took its place (docs/probes.md).
[[nodiscard]] std::string_view tested_version(std::string_view name);

}  // namespace sallyport
