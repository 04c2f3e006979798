#include "cli/container_choice.h"

#include <fmt/format.h>

#include <array>

#include "core/errors.h"

namespace sallyport::cli {
namespace {

constexpr auto kOfClient =
    std::to_array<const char*>({"HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CONTAINERS_CONF",
                                "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_CERT_PATH"});

}  // namespace

Status set_container_engine(ContainerOptions& container, std::string_view word) {
  if (word != "podman" && word != "docker") {
    return fail(invalid_request("engine", fmt::format("there is no engine '{}'", word), "one of: podman, docker"));
  }
  container.engine = word == "podman" ? ContainerEngine::kPodman : ContainerEngine::kDocker;
  return {};
}

ContainerOptions with_environment(ContainerOptions container, const Environment& environment) {
  for (const char* const name : kOfClient) {
    const std::optional<std::string> value = environment.variable ? environment.variable(name) : std::nullopt;
    if (value) container.environment.push_back({.name = name, .value = *value});
  }
  return container;
}

}  // namespace sallyport::cli
