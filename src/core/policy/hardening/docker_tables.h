// The commands and options of docker that a caller may use: closed tables, one per command.
#pragma once

#include <span>
#include <string_view>

namespace sallyport::hardening {

// What a value must be; kAny: anything.
enum class DockerValue {
  kFlag,  // none: true or false, after "="
  kAny,
  kNoNetwork,   // none
  kPrivileges,  // no-new-privileges
  kPrivateIpc,  // none or private
  kVolume,      // anonymous, or the working directory read-only
  kFileInside,  // below the working directory
  kOwnName,     // a container name with our prefix
  kPlainLabel,  // not the label that marks what is ours
  kBuildArg,    // not one that BuildKit obeys
  kContainer,   // inspect --type
};

struct DockerOption {
  std::string_view name;  // without dashes
  char letter = 0;
  DockerValue value = DockerValue::kAny;
};

// What comes besides the options.
enum class DockerOperands {
  kNone,
  kImageAndCommand,  // options end at the image; the rest is the container's command
  kContext,          // one directory below the working directory
  kContainers,       // of ours, one or more
  kImage,            // exactly one, any
  kImages,           // any number, any
  kOwnImages,        // one or more, of ours
};

struct DockerCommand {
  std::string_view name;
  std::span<const DockerOption> options;
  DockerOperands operands = DockerOperands::kNone;
  std::span<const std::string_view> forced{};
};

// nullptr: the command may not run here. `group` is "", "container" or "image".
[[nodiscard]] const DockerCommand* find_docker_command(std::string_view group, std::string_view name);
[[nodiscard]] std::span<const std::string_view> docker_command_names();

// The name prefix of containers and images made through the gate. We cannot read a label without the daemon, so the
// name marks them too: start, stop, rm and similar commands accept no other name.
inline constexpr std::string_view kDockerOwnPrefix = "sallyport-";
inline constexpr std::string_view kDockerLabel = "sallyport.gate";

}  // namespace sallyport::hardening
