// The jail that is a container of podman or docker, with the tools of an image. Taken only by name, and only with an image:
//
//   GateConfig config = GateConfig::from_environment(repo);
//   config.container.image = "registry.test/node@sha256:…";
//   gate->run(spec, kContainerJail, {});
//
// What is run, and named in the receipt, is the image that the name meant when it was first used: its digest. Nothing is pulled.
//
// Errors a caller can act on: ToolMissingError when there is no such engine, or the image has no such tool; JailUnavailable when the
// image is not there, is not the one whose digest was named, or the engine refuses; InvalidRequest for what it cannot show.
// docs/jails.md says what holds there.
#pragma once

#include <string>
#include <vector>

#include "sallyport/plan.h"

namespace sallyport {

inline constexpr JailKind kContainerJail{"container"};

enum class ContainerEngine { kPodman, kDocker };

// Whose file a tool's name means: one that is found in the image's own PATH, or the host's, which is shown in the container and must
// find there what it needs.
enum class ContainerTools { kOfImage, kOfHost };

struct ContainerOptions {
  std::string image{};  // NAME, NAME:TAG, NAME@sha256:…, or sha256:…; empty: the jail cannot be used
  ContainerEngine engine = ContainerEngine::kPodman;
  std::vector<std::string> engine_arguments{};  // the engine's own, before its verb: {"-H", "unix:///run/other.sock"}
  // All that the engine's client finds in its environment beside PATH. A plain user's podman needs HOME and XDG_RUNTIME_DIR.
  std::vector<EnvVar> environment{};
  ContainerTools tools = ContainerTools::kOfImage;
};

}  // namespace sallyport
