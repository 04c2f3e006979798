#include "cli/environment.h"

#include "core/policy/base_variables.h"

namespace sallyport::cli {

std::vector<EnvVar> base_env(const Environment& environment) {
  return base_env_of(
      {.path = environment.path, .home = environment.home, .lang = environment.lang, .lc_all = environment.lc_all});
}

std::vector<std::filesystem::path> search_path(const Environment& environment) {
  return search_path_of(environment.path);
}

std::filesystem::path cache_dir(const Environment& environment) {
  return cache_dir_of(environment.xdg_cache_home, environment.home);
}

std::filesystem::path workspace_dir(const Environment& environment) {
  return workspace_dir_of(environment.xdg_state_home, environment.home);
}

OperatorNpm operator_npm(const Environment& environment) {
  return operator_npm_of(environment.variable, environment.current_directory);
}

}  // namespace sallyport::cli
