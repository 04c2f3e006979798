// The library's functions that read the environment, for programs that want to behave like the CLI.
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/policy/base_variables.h"
#include "sallyport/gate.h"

namespace sallyport {
namespace {

std::optional<std::string> variable_of_this_process(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): the header says when to call
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

std::filesystem::path default_workspace_dir() {
  return workspace_dir_of(variable_of_this_process("XDG_STATE_HOME"), variable_of_this_process("HOME"));
}

GateConfig GateConfig::from_environment(std::filesystem::path repo) {
  std::error_code unknown;
  return gate_config_of({.path = variable_of_this_process("PATH"),
                         .home = variable_of_this_process("HOME"),
                         .lang = variable_of_this_process("LANG"),
                         .lc_all = variable_of_this_process("LC_ALL"),
                         .xdg_cache_home = variable_of_this_process("XDG_CACHE_HOME"),
                         .variable = [](const std::string& name) { return variable_of_this_process(name.c_str()); },
                         .current_directory = std::filesystem::current_path(unknown)},
                        std::move(repo));
}

}  // namespace sallyport
