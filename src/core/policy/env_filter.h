// The child's environment, by omission (C7): four names from the base, the caller's explicit extras, nothing else.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

inline constexpr std::array<std::string_view, 4> kBaseEnvNames = {"PATH", "HOME", "LANG", "LC_ALL"};

// Sorted by name. An extra is refused (InvalidRequest("env_extras")) when its name is malformed, repeated, one of the four, or
// makes a program load code, run another program or read another configuration.
[[nodiscard]] Result<std::vector<EnvVar>> child_env(std::span<const EnvVar> base, std::span<const EnvVar> extras);

// Each variable of `over` replaces one of the same name; names stay unique and sorted.
void overlay(std::vector<EnvVar>& env, std::span<const EnvVar> over);

// Why an extra of this name is refused; empty when it is not.
[[nodiscard]] std::string_view why_env_forbidden(std::string_view name);

}  // namespace sallyport
