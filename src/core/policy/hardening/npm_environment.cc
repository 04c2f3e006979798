#include "core/policy/hardening/npm_environment.h"

#include <string>

#include "core/policy/hardening/git_config.h"
#include "core/policy/hardening/npm_keys.h"

namespace sallyport::hardening {

std::vector<EnvVar> npm_env(const NpmSources& sources) {
  std::vector<EnvVar> env = git_env_for_children();  // npm starts git for git dependencies
  for (const NpmPin& pin : npm_pins()) {
    env.push_back({.name = npm_variable(pin.key), .value = std::string(pin.value)});
    if (pin.key == "git" && sources.git) env.back().value = "git";
  }
  // A denied host stays denied: npm would wait a minute to ask again. --fetch-retries=N outranks this.
  env.push_back({.name = npm_variable("fetch-retries"), .value = "0"});
  return env;
}

}  // namespace sallyport::hardening
