// Settings that override a hostile repo's git configuration, for git itself and for tools that start git.
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

// git reads these after every configuration file, so nothing in the repo can override them.
[[nodiscard]] std::span<const GitSetting> git_settings();
// Variables for git itself.
[[nodiscard]] std::vector<EnvVar> git_env();
// The same for a tool that starts git itself: the environment carries the settings, too.
[[nodiscard]] std::vector<EnvVar> git_env_for_children();
// Adds the overrides from a listing. No-op on an environment without settings for git.
void add_to_git_env_for_children(std::vector<EnvVar>& env, const GitConfiguration& git);

}  // namespace sallyport::hardening
