#include "core/policy/hardening/docker_tables.h"

#include <algorithm>
#include <array>

namespace sallyport::hardening {
namespace {

using enum DockerValue;
using enum DockerOperands;

constexpr std::array<std::string_view, 4> kRunForced = {"--network=none", "--cap-drop=ALL",
                                                        "--security-opt=no-new-privileges", "--label=sallyport.gate=1"};
// A different label than for containers: a host's container made from this image inherits the label, but is not ours.
constexpr std::array<std::string_view, 2> kBuildForced = {"--network=none", "--label=sallyport.image=1"};
constexpr std::array<std::string_view, 1> kPsForced = {"--filter=label=sallyport.gate"};

constexpr auto kRun = std::to_array<DockerOption>({
    {"detach", 'd', kFlag},
    {"interactive", 'i', kFlag},
    {"tty", 't', kFlag},
    {"rm", 0, kFlag},
    {"init", 0, kFlag},
    {"read-only", 0, kFlag},
    {"no-healthcheck", 0, kFlag},
    {"quiet", 'q', kFlag},
    {"name", 0, kOwnName},
    {"hostname", 'h'},
    {"env", 'e'},
    {"workdir", 'w'},
    {"user", 'u'},
    {"entrypoint"},
    {"memory", 'm'},
    {"memory-swap"},
    {"cpus"},
    {"pids-limit"},
    {"ulimit"},
    {"tmpfs"},
    {"label", 'l', kPlainLabel},
    {"platform"},
    {"pull"},
    {"stop-timeout"},
    {"stop-signal"},
    {"shm-size"},
    {"cap-drop"},
    {"volume", 'v', kVolume},
    {"network", 0, kNoNetwork},
    {"net", 0, kNoNetwork},
    {"security-opt", 0, kPrivileges},
    {"ipc", 0, kPrivateIpc},
});
constexpr auto kBuild = std::to_array<DockerOption>({
    {"no-cache", 0, kFlag},
    {"pull", 0, kFlag},
    {"quiet", 'q', kFlag},
    {"rm", 0, kFlag},
    {"force-rm", 0, kFlag},
    {"compress", 0, kFlag},
    {"tag", 't'},
    {"file", 'f', kFileInside},
    {"build-arg", 0, kBuildArg},
    {"label", 0, kPlainLabel},
    {"target"},
    {"platform"},
    {"progress"},
    {"memory", 'm'},
    {"memory-swap"},
    {"shm-size"},
    {"network", 0, kNoNetwork},
});
constexpr auto kStart = std::to_array<DockerOption>({{"attach", 'a', kFlag}, {"interactive", 'i', kFlag}});
constexpr auto kStop = std::to_array<DockerOption>({{"time", 't'}, {"timeout"}, {"signal", 's'}});
constexpr auto kKill = std::to_array<DockerOption>({{"signal", 's'}});
constexpr auto kRemove = std::to_array<DockerOption>({{"force", 'f', kFlag}, {"volumes", 'v', kFlag}});
constexpr auto kLogs = std::to_array<DockerOption>(
    {{"follow", 'f', kFlag}, {"timestamps", 't', kFlag}, {"details", 0, kFlag}, {"tail", 'n'}, {"since"}, {"until"}});
constexpr auto kInspect = std::to_array<DockerOption>({{"format", 'f'}, {"size", 's', kFlag}, {"type", 0, kContainer}});
constexpr auto kPs = std::to_array<DockerOption>({{"all", 'a', kFlag},
                                                  {"quiet", 'q', kFlag},
                                                  {"no-trunc", 0, kFlag},
                                                  {"size", 's', kFlag},
                                                  {"latest", 'l', kFlag},
                                                  {"last", 'n'},
                                                  {"filter", 'f'},
                                                  {"format"}});
constexpr auto kImagesOptions = std::to_array<DockerOption>({{"all", 'a', kFlag},
                                                             {"quiet", 'q', kFlag},
                                                             {"no-trunc", 0, kFlag},
                                                             {"digests", 0, kFlag},
                                                             {"filter", 'f'},
                                                             {"format"}});
constexpr auto kPull = std::to_array<DockerOption>({{"quiet", 'q', kFlag}, {"platform"}});
constexpr auto kRemoveImage = std::to_array<DockerOption>({{"force", 'f', kFlag}, {"no-prune", 0, kFlag}});
constexpr auto kFormat = std::to_array<DockerOption>({{"format", 'f'}});

// Left out: exec, attach, cp, commit, export, save, load, import (other containers, host files), compose, swarm,
// service, buildx and other plugins, context, login, push, network, volume, and whatever a later docker adds.
constexpr auto kTop = std::to_array<DockerCommand>({
    {"run", kRun, kImageAndCommand, kRunForced},
    {"create", kRun, kImageAndCommand, kRunForced},
    {"build", kBuild, kContext, kBuildForced},
    {"start", kStart, kContainers},
    {"stop", kStop, kContainers},
    {"kill", kKill, kContainers},
    {"rm", kRemove, kContainers},
    {"wait", {}, kContainers},
    {"logs", kLogs, kContainers},
    {"inspect", kInspect, kContainers},
    {"top", {}, kContainers},
    {"diff", {}, kContainers},
    {"ps", kPs, kNone, kPsForced},
    {"images", kImagesOptions, kImages},
    {"pull", kPull, kImage},
    {"rmi", kRemoveImage, kOwnImages},
    {"version", kFormat, kNone},
    {"info", kFormat, kNone},
});
constexpr auto kContainerGroup = std::to_array<DockerCommand>({
    {"run", kRun, kImageAndCommand, kRunForced},
    {"create", kRun, kImageAndCommand, kRunForced},
    {"start", kStart, kContainers},
    {"stop", kStop, kContainers},
    {"kill", kKill, kContainers},
    {"rm", kRemove, kContainers},
    {"wait", {}, kContainers},
    {"logs", kLogs, kContainers},
    {"inspect", kInspect, kContainers},
    {"top", {}, kContainers},
    {"diff", {}, kContainers},
    {"ls", kPs, kNone, kPsForced},
});
constexpr auto kImageGroup = std::to_array<DockerCommand>({
    {"build", kBuild, kContext, kBuildForced},
    {"inspect", kFormat, kImages},
    {"ls", kImagesOptions, kImages},
    {"pull", kPull, kImage},
    {"rm", kRemoveImage, kOwnImages},
});

constexpr auto kDockerCommandNames = [] {
  std::array<std::string_view, kTop.size()> names{};
  std::ranges::transform(kTop, names.begin(), &DockerCommand::name);
  return names;
}();

}  // namespace

const DockerCommand* find_docker_command(std::string_view group, std::string_view name) {
  const std::span<const DockerCommand> commands = group.empty() ? std::span<const DockerCommand>(kTop)
                                                  : group == "container"
                                                      ? std::span<const DockerCommand>(kContainerGroup)
                                                      : std::span<const DockerCommand>(kImageGroup);
  const auto found = std::ranges::find(commands, name, &DockerCommand::name);
  return found == commands.end() ? nullptr : &*found;
}

std::span<const std::string_view> docker_command_names() { return kDockerCommandNames; }

}  // namespace sallyport::hardening
