// Renders a spec as each jail does, for a host described here instead of the real one: every step is pure, so the same
// spec gives the same text on every machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "golden/golden.h"
#include "jails/bwrap/bwrap.h"
#include "jails/container/container.h"
#include "jails/landlock/landlock.h"
#include "jails/native/native.h"
#include "jails/oci/oci.h"
#include "jails/sandbox_exec/profile.h"
#include "sallyport/jail.h"

namespace sallyport::golden {

// Paths in the spec are taken as canonical; one that ends in ".file" is a file, all others are directories.
struct Scene {
  JailedSubprocessSpec spec{};
  std::string tool_path = "/usr/bin/jq";  // where the tool was found; outside /usr it has to be mounted
};

struct Rendering {
  bwrap::Command bwrap{};
  spawn::LaunchSpec bwrap_inner{};  // what our init inside bwrap receives
  spawn::LaunchSpec native{};
  Lines landlock{};
  Lines oci{};                    // the runtime's command line, config.json, what its root directory holds
  Lines gvisor{};                 // the same for runsc
  spawn::LaunchSpec oci_inner{};  // what our init inside the container is sent
  Lines podman{};                 // the client's command line
  Lines docker{};
  spawn::LaunchSpec container_inner{};  // what our init in either's container is sent
  sandbox_exec::Profile sandbox{};
};

[[nodiscard]] Rendering render(const Scene& scene);

// One argument a line, nothing else.
[[nodiscard]] Lines argv_text(const bwrap::Command& command);
// What the descriptors named in the argv are: "10 path /usr".
[[nodiscard]] Lines descriptors_text(const bwrap::Command& command);
// The steps of building the root, then what the tool gets.
[[nodiscard]] Lines launch_text(const spawn::LaunchSpec& launch);

// The places that Landlock opens, and the environment.
[[nodiscard]] Lines places_text(const Rendering& rendering);

[[nodiscard]] Lines bundle_text(const Lines& bundle);

// The rules of macOS's profile, then its parameters.
[[nodiscard]] Lines profile_text(const sandbox_exec::Profile& profile);

// The smallest scene: a tool of the system over a read-only repo.
[[nodiscard]] Scene plain_scene();

}  // namespace sallyport::golden
