// Runs a container engine's client for short commands: inspect this image, remove that container.
#pragma once

#include <string>
#include <vector>

#include "jails/container/container.h"
#include "sallyport/container.h"
#include "sallyport/jail_port.h"
#include "sallyport/result.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::container {

struct Answer {
  bool agreed = false;  // it exited with 0
  std::string out{};
  std::string err{};

  // The line, after any warnings, that says why it did not exit with 0.
  [[nodiscard]] std::string why() const;
};

class Engine {
 public:
  // Borrows `supply` and `options`.
  Engine(spawn::JailSupply& supply, const ContainerOptions& options, Executable client);

  // Holds none of the caller's variables except those that the options name.
  [[nodiscard]] const std::vector<std::string>& environment() const { return environment_; }
  [[nodiscard]] int client() const { return client_.file.get(); }
  [[nodiscard]] int root_directory() const { return root_.get(); }

  // Runs the client with the engine's own arguments, then these. An error when it did not answer in time, or not at
  // all.
  [[nodiscard]] Result<Answer> ask(const std::vector<std::string>& words) const;
  // Succeeds also when the container is already gone.
  [[nodiscard]] Status remove_container(const std::string& name) const;

 private:
  spawn::JailSupply& supply_;
  const ContainerOptions& options_;
  Executable client_;
  UniqueFd root_;
  std::vector<std::string> environment_;
};

// True when that engine's containers run on this very kernel, so that a file has the same device and inode inside. An
// engine behind a network or in a virtual machine shares only what is mounted.
[[nodiscard]] bool runs_here(const ContainerOptions& options);

}  // namespace sallyport::container
