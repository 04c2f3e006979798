// What outranks a hostile repo's own git configuration, for git itself and for tools that start it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/policy/hardening/git_overrides.h"
#include "sallyport/plan.h"

namespace sallyport::hardening {

struct GitSetting {
  std::string_view key;
  std::string_view value;
};

// Read after every configuration file, so nothing in the repo can win over them.
[[nodiscard]] std::span<const GitSetting> git_settings();
// Variables for git itself.
[[nodiscard]] std::vector<EnvVar> git_env();
// The same for a tool that starts git behind our back: the settings travel in the environment, too.
[[nodiscard]] std::vector<EnvVar> git_env_for_children();
// Adds what a listing has led to. No-op on an environment that has no settings for git.
void add_to_git_env_for_children(std::vector<EnvVar>& env, const GitConfiguration& git);

}  // namespace sallyport::hardening
