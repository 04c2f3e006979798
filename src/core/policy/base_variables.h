// What the environment of the program that opens a gate means to it: where tools are looked for, what a child inherits, where
// hashes are kept. Pure; who reads the environment is GateConfig::from_environment and the CLI's main.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/gate.h"
#include "sallyport/plan.h"

namespace sallyport {

struct BaseVariables {
  std::optional<std::string> path{};
  std::optional<std::string> home{};
  std::optional<std::string> lang{};
  std::optional<std::string> lc_all{};
};

// PATH HOME LANG LC_ALL, those that exist: all a child can inherit (C7).
[[nodiscard]] std::vector<EnvVar> base_env_of(const BaseVariables& variables);
// PATH's absolute entries in order; the system's own directories when PATH is unset or empty. Relative and empty
// entries mean "where I happen to stand", which may be the scanned repo. The gate skips those that others can write.
[[nodiscard]] std::vector<std::filesystem::path> search_path_of(const std::optional<std::string>& path);
// Empty, which means no cache on disk, when neither variable names an absolute directory.
// Likewise for what must stay: below XDG_STATE_HOME, else ~/.local/state.
[[nodiscard]] std::filesystem::path workspace_dir_of(const std::optional<std::string>& xdg_state_home,
                                                     const std::optional<std::string>& home);
[[nodiscard]] std::filesystem::path cache_dir_of(const std::optional<std::string>& xdg_cache_home,
                                                 const std::optional<std::string>& home);

// A value that is empty counts as none, as it does for npm. `here` is where we are: a file may be named from there.
[[nodiscard]] OperatorNpm operator_npm_of(decltype(OperatorNpm::variable) variable, const std::filesystem::path& here);

}  // namespace sallyport
