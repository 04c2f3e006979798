// The options of the container jail, as words of a command line (sallyport/container.h).
#pragma once

#include <string_view>

#include "cli/environment.h"
#include "sallyport/container.h"
#include "sallyport/result.h"

namespace sallyport::cli {

[[nodiscard]] Status set_container_engine(ContainerOptions& container, std::string_view word);

// Adds the variables of our environment that the engine's client may see: where its files and its daemon are.
[[nodiscard]] ContainerOptions with_environment(ContainerOptions container, const Environment& environment);

// For the table of a verb whose command has a member `container`.
template <class Command>
[[nodiscard]] Status set_image(Command& command, std::string_view value) {
  command.container.image = value;
  return {};
}
template <class Command>
[[nodiscard]] Status set_engine(Command& command, std::string_view value) {
  return set_container_engine(command.container, value);
}
template <class Command>
[[nodiscard]] Status add_engine_arg(Command& command, std::string_view value) {
  command.container.engine_arguments.emplace_back(value);
  return {};
}
template <class Command>
[[nodiscard]] Status set_host_tool(Command& command, std::string_view /*value*/) {
  command.container.tools = ContainerTools::kOfHost;
  return {};
}

}  // namespace sallyport::cli
