#include "core/policy/base_variables.h"

#include <string_view>
#include <utility>

namespace sallyport {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool names_absolute_path(const std::optional<std::string>& value) { return value && value->starts_with('/'); }

}  // namespace

GateConfig gate_config_of(const BaseVariables& variables, std::filesystem::path repo) {
  return {.repo = std::move(repo),
          .search_path = search_path_of(variables.path),
          .base_env = base_env_of(variables),
          .cache_dir = cache_dir_of(variables.xdg_cache_home, variables.home),
          .npm = operator_npm_of(variables.variable, variables.current_directory)};
}

std::vector<EnvVar> base_env_of(const BaseVariables& variables) {
  std::vector<EnvVar> env;
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) env.push_back({.name = name, .value = *value});
  };
  add("PATH", variables.path);
  add("HOME", variables.home);
  add("LANG", variables.lang);
  add("LC_ALL", variables.lc_all);
  return env;
}

std::vector<std::filesystem::path> search_path_of(const std::optional<std::string>& path) {
  const bool is_set = path && !path->empty();
  std::string_view rest = is_set ? std::string_view(*path) : kDefaultPath;
  std::vector<std::filesystem::path> directories;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string_view entry = rest.substr(0, colon);
    if (entry.starts_with('/')) directories.emplace_back(entry);
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return directories;
}

std::filesystem::path workspace_dir_of(const std::optional<std::string>& xdg_state_home,
                                       const std::optional<std::string>& home) {
  constexpr const char* kBelow = "sallyport/workspaces";
  if (names_absolute_path(xdg_state_home)) return std::filesystem::path(*xdg_state_home) / kBelow;
  if (names_absolute_path(home)) return std::filesystem::path(*home) / ".local/state" / kBelow;
  return {};
}

std::filesystem::path cache_dir_of(const std::optional<std::string>& xdg_cache_home,
                                   const std::optional<std::string>& home) {
  if (names_absolute_path(xdg_cache_home)) return std::filesystem::path(*xdg_cache_home) / "sallyport";
  if (names_absolute_path(home)) return std::filesystem::path(*home) / ".cache" / "sallyport";
  return {};
}

OperatorNpm operator_npm_of(decltype(OperatorNpm::variable) variable, const std::filesystem::path& here) {
  OperatorNpm npm;
  const auto value_of = [&](const char* name) { return variable ? variable(name).value_or("") : std::string(); };
  for (const char* name : {"npm_config_userconfig", "NPM_CONFIG_USERCONFIG"}) {
    if (const std::string file = value_of(name); !file.empty()) npm.npmrc = here / file;
  }
  // Not by npm_config_registry: package managers set that for the scripts they run, from the project's own configuration.
  npm.registry = value_of("NPM_CONFIG_REGISTRY");
  npm.variable = std::move(variable);
  return npm;
}

}  // namespace sallyport
