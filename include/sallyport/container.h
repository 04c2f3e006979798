// The jail that is a container of podman or docker, with the tools of an image. Used only by name, and only with an
// image:
//
//   GateConfig config = GateConfig::from_environment(repo);
//   config.container.image = "registry.test/node@sha256:…";
//   std::unique_ptr<Gate> gate = SALLYPORT_TRY(Gate::open(std::move(config)));
//   JailedSubprocessResult result = SALLYPORT_TRY(gate->run(spec, kContainerJail, {}));
//
// The jail runs, and the receipt names, the image that the name meant at its first use: its digest. The jail never
// pulls an image.
//
// Errors a caller can act on: ToolMissingError when the engine is missing, or the image lacks the tool; JailUnavailable
// when the image is missing or has another digest, or the engine refuses; InvalidRequest for what it cannot show.
// docs/jails.md says what holds there. The rule: docs/contract.md, C21.
#pragma once

#include <string>
#include <vector>

#include "sallyport/plan.h"

namespace sallyport {

enum class ContainerEngine { kPodman, kDocker };

// Which file a tool's name means: one in the image's own PATH, or the host's file, which is shown in the container and
// must find there what it needs.
enum class ContainerTools { kOfImage, kOfHost };

struct ContainerOptions {
  std::string image{};  // NAME, NAME:TAG, NAME@sha256:…, or sha256:…; empty: the jail is unavailable
  ContainerEngine engine = ContainerEngine::kPodman;
  std::vector<std::string> engine_arguments{};  // the engine's own, before its verb: {"-H", "unix:///run/other.sock"}
  // The engine's client's whole environment besides PATH. A plain user's podman needs HOME and XDG_RUNTIME_DIR.
  std::vector<EnvVar> environment{};
  ContainerTools tools = ContainerTools::kOfImage;
};

}  // namespace sallyport
