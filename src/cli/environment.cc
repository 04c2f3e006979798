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

OperatorNpmrc operator_npmrc(const Environment& environment) {
  OperatorNpmrc npmrc{.variable = environment.variable};
  // npm takes either spelling, and the file of its home when the value is empty.
  for (const char* name : {"npm_config_userconfig", "NPM_CONFIG_USERCONFIG"}) {
    const std::optional<std::string> file = environment.variable ? environment.variable(name) : std::nullopt;
    if (file && !file->empty()) npmrc.file = environment.current_directory / *file;
  }
  return npmrc;
}

}  // namespace sallyport::cli
