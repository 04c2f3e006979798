#include "cli/environment.h"

#include <utility>

#include "core/policy/base_variables.h"

namespace sallyport::cli {
namespace {

BaseVariables variables_of(const Environment& environment) {
  return {.path = environment.path,
          .home = environment.home,
          .lang = environment.lang,
          .lc_all = environment.lc_all,
          .xdg_cache_home = environment.xdg_cache_home,
          .variable = environment.variable,
          .current_directory = environment.current_directory};
}

}  // namespace

GateConfig gate_config(const Environment& environment, std::filesystem::path repo) {
  return gate_config_of(variables_of(environment), std::move(repo));
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

}  // namespace sallyport::cli
