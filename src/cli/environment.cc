#include "cli/environment.h"

#include <string_view>

namespace sallyport::cli {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool is_absolute(const std::optional<std::string>& path) { return path && path->starts_with('/'); }

}  // namespace

std::vector<EnvVar> base_env(const Environment& environment) {
  std::vector<EnvVar> env;
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) env.push_back({.name = name, .value = *value});
  };
  add("PATH", environment.path);
  add("HOME", environment.home);
  add("LANG", environment.lang);
  add("LC_ALL", environment.lc_all);
  return env;
}

std::vector<std::filesystem::path> search_path(const Environment& environment) {
  const bool is_set = environment.path && !environment.path->empty();
  std::string_view rest = is_set ? std::string_view(*environment.path) : kDefaultPath;
  std::vector<std::filesystem::path> directories;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string_view entry = rest.substr(0, colon);
    if (entry.starts_with('/')) directories.emplace_back(entry);
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return directories;
}

std::filesystem::path cache_dir(const Environment& environment) {
  if (is_absolute(environment.xdg_cache_home)) return std::filesystem::path(*environment.xdg_cache_home) / "sallyport";
  if (is_absolute(environment.home)) return std::filesystem::path(*environment.home) / ".cache" / "sallyport";
  return {};
}

}  // namespace sallyport::cli
