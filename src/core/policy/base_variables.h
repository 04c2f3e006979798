// What a gate takes from its program's environment: where to look for tools, what a child inherits, where to keep
// hashes. Pure; GateConfig::from_environment and the CLI's main read the environment, and both make their GateConfig by
// gate_config_of.
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
  std::optional<std::string> xdg_cache_home{};
  decltype(OperatorNpm::variable) variable{};  // any other, for npm
  std::filesystem::path current_directory{};   // a file may be named from there
};

// What depends on the environment alone; no events, no record, no jails kept ready.
[[nodiscard]] GateConfig gate_config_of(const BaseVariables& variables, std::filesystem::path repo);

// PATH HOME LANG LC_ALL, those that exist: a child can inherit only these (C7).
[[nodiscard]] std::vector<EnvVar> base_env_of(const BaseVariables& variables);
// PATH's absolute entries in order; the system's own directories when PATH is unset or empty. Relative and empty
// entries mean the current directory, which may be the scanned repo. The gate skips directories that others can write.
[[nodiscard]] std::vector<std::filesystem::path> search_path_of(const std::optional<std::string>& path);
// For what must stay: below XDG_STATE_HOME, else ~/.local/state; empty when neither variable names an absolute directory.
[[nodiscard]] std::filesystem::path workspace_dir_of(const std::optional<std::string>& xdg_state_home,
                                                     const std::optional<std::string>& home);
// Likewise; empty means no cache on disk.
[[nodiscard]] std::filesystem::path cache_dir_of(const std::optional<std::string>& xdg_cache_home,
                                                 const std::optional<std::string>& home);

// An empty value counts as unset, as for npm. `here` is the current directory: a relative file name starts there.
[[nodiscard]] OperatorNpm operator_npm_of(decltype(OperatorNpm::variable) variable, const std::filesystem::path& here);

}  // namespace sallyport
