// An image of the programs that misbehave, in a Podman of the test's own. Needs root; Debian's podman and runc (tools/setup.sh long).
#pragma once

#include "sallyport/container.h"
#include "support/temp_dir.h"

namespace sallyport::test {

// Made with the object, and all of it gone with the object. Ends the test program when it cannot be made.
class PodmanImage {
 public:
  PodmanImage();
  ~PodmanImage();
  PodmanImage(const PodmanImage&) = delete;
  PodmanImage& operator=(const PodmanImage&) = delete;

  [[nodiscard]] ContainerOptions options() const;

 private:
  void podman(std::vector<std::string> words) const;

  TempDir dir_{};
};

}  // namespace sallyport::test
