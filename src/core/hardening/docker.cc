// docker hands every request to a daemon that is root: a mount, a device or a shared namespace asked for here is the
// host given away. So commands and options are closed lists, not lists of known evils.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/did_you_mean.h"
#include "core/hardening/hardeners.h"
#include "core/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::array<std::string_view, 3> kRunFixed = {"--network=none", "--cap-drop=ALL",
                                                       "--security-opt=no-new-privileges"};
constexpr std::array<std::string_view, 1> kBuildFixed = {"--network=none"};

// Left out: cp, save, load, import (host files), compose, swarm, service, plugin, context, login, push, network,
// volume, and whatever a later docker adds.
constexpr auto kDockerCommands =
    std::to_array<std::string_view>({"run", "create", "build", "start", "stop", "kill", "rm", "wait", "logs", "inspect",
                                     "ps", "images", "pull", "top", "diff", "rmi", "version", "info"});
constexpr auto kContainerCommands = std::to_array<std::string_view>(
    {"run", "create", "start", "stop", "kill", "rm", "wait", "logs", "inspect", "ls", "top", "diff"});
constexpr auto kImageCommands = std::to_array<std::string_view>({"build", "inspect", "ls", "pull", "rm"});
constexpr std::array<std::string_view, 4> kDockerAlone = {"--version", "-v", "--help", "help"};

// docker (pflag) takes no abbreviations; a flag's value needs "=", an option takes the next argument.
constexpr auto kRunFlags =
    std::to_array<std::string_view>({"--detach", "-d", "--interactive", "-i", "--tty", "-t", "--rm", "--init",
                                     "--read-only", "--no-healthcheck", "--quiet", "-q"});
constexpr auto kRunOptions = std::to_array<std::string_view>({"--name",
                                                              "--hostname",
                                                              "-h",
                                                              "--env",
                                                              "-e",
                                                              "--workdir",
                                                              "-w",
                                                              "--user",
                                                              "-u",
                                                              "--entrypoint",
                                                              "--memory",
                                                              "-m",
                                                              "--memory-swap",
                                                              "--cpus",
                                                              "--pids-limit",
                                                              "--ulimit",
                                                              "--tmpfs",
                                                              "--label",
                                                              "-l",
                                                              "--platform",
                                                              "--pull",
                                                              "--stop-timeout",
                                                              "--stop-signal",
                                                              "--shm-size",
                                                              "--cap-drop",
                                                              "--volume",
                                                              "-v",
                                                              "--network",
                                                              "--net",
                                                              "--security-opt",
                                                              "--ipc"});
constexpr auto kBuildFlags =
    std::to_array<std::string_view>({"--no-cache", "--pull", "--quiet", "-q", "--rm", "--force-rm"});
constexpr auto kBuildOptions =
    std::to_array<std::string_view>({"--tag", "-t", "--file", "-f", "--build-arg", "--label", "--target", "--platform",
                                     "--progress", "--memory", "-m", "--network"});

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

struct Parsed {
  std::string_view name;
  std::optional<std::string_view> value;  // when given in the same argument
};

// "--name=value", "-evalue", "-e=value".
Parsed parse_option(std::string_view argument) {
  if (is_long(argument)) {
    const LongOption option = split_long(argument);
    return {.name = option.name, .value = option.has_value ? std::optional(option.value) : std::nullopt};
  }
  if (argument.size() == 2) return {.name = argument, .value = std::nullopt};
  std::string_view value = argument.substr(2);
  if (value.starts_with('=')) value.remove_prefix(1);
  return {.name = argument.substr(0, 2), .value = value};
}

// A path inside the repo may be a symlink to anywhere, and the daemon follows it; the working directory itself was
// resolved by the gate. Read-only, because this code cannot see whether the repo may be written.
bool is_harmless_volume(std::string_view value) {
  if (value.find(':') == std::string_view::npos) return value.starts_with('/');  // anonymous, dies with the container
  return value.starts_with(".:/") && value.ends_with(":ro") && std::ranges::count(value, ':') == 2;
}

Status check_value(std::string_view name, std::string_view value) {
  const auto refuse = [&](std::string_view why, std::string_view hint) {
    return fail(refused_argument("docker", fmt::format("{} {}", name, value), why, hint));
  };
  if ((name == "--network" || name == "--net") && value != "none") {
    return refuse("containers get no network", "leave it out");
  }
  if (name == "--security-opt" && value != "no-new-privileges" && value != "no-new-privileges:true" &&
      value != "no-new-privileges=true") {
    return refuse("it weakens the container", "leave it out");
  }
  if (name == "--ipc" && value != "none" && value != "private") {
    return refuse("it shares memory with others", "leave it out");
  }
  if ((name == "--volume" || name == "-v") && !is_harmless_volume(value)) {
    return refuse("it opens a path of the host or another container's data",
                  "mount the working directory: -v .:/src:ro");
  }
  if ((name == "--file" || name == "-f") && (value.starts_with('/') || value.find("..") != std::string_view::npos)) {
    return refuse("it names a file outside the working directory", "use a relative path without ..");
  }
  return {};
}

struct Options {
  std::span<const std::string_view> flags;
  std::span<const std::string_view> with_value;
};

bool is_flag_cluster(std::string_view argument, std::span<const std::string_view> flags) {
  return !is_long(argument) && std::ranges::all_of(argument.substr(1), [&](char letter) {
    return is_one_of(flags, std::string{'-', letter});
  });
}

struct Scan {
  bool network_given = false;
};

// Options up to the image (or build context); what follows belongs to the container.
Result<Scan> check_options(Argv arguments, const Options& known) {
  Scan scan;
  for (std::size_t i = 0; i < arguments.size() && is_option(arguments[i]) && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    if (is_one_of(known.flags, argument) || is_flag_cluster(argument, known.flags)) continue;
    const Parsed option = parse_option(argument);
    if (!is_one_of(known.with_value, option.name)) {
      return fail(refused_argument("docker", argument, "not one of the options known to keep the container closed",
                                   "leave it out"));
    }
    std::string_view value;
    if (option.value) {
      value = *option.value;
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    }
    TRY(check_value(option.name, value));
    if (option.name == "--network" || option.name == "--net") scan.network_given = true;
  }
  return scan;
}

// The words of the command: "run", or "container run".
Result<std::size_t> count_command_words(Argv arguments) {
  const auto refuse = [](std::string_view word, std::span<const std::string_view> known) {
    const std::string suggestion = did_you_mean(word, known);
    return fail(refused_argument("docker", word, "not one of the commands docker may run here",
                                 suggestion.empty() ? fmt::format("known: {}", fmt::join(known, ", ")) : suggestion));
  };
  const std::string_view first = arguments.front();
  if (first != "container" && first != "image") {
    if (!is_one_of(kDockerCommands, first)) return refuse(first, kDockerCommands);
    return std::size_t{1};
  }
  const std::span<const std::string_view> known =
      first == "container" ? std::span<const std::string_view>(kContainerCommands) : kImageCommands;
  const std::string_view second = arguments.size() > 1 ? std::string_view(arguments[1]) : std::string_view();
  if (!is_one_of(known, second)) return refuse(second, known);
  return std::size_t{2};
}

}  // namespace

Result<HardenedCommand> harden_docker(Argv argv) {
  const Argv arguments = argv.subspan(1);
  const bool alone = arguments.empty() || (arguments.size() == 1 && is_one_of(kDockerAlone, arguments.front()));
  if (alone) return HardenedCommand{.argv = {argv.begin(), argv.end()}, .env = {}};
  if (is_option(arguments.front())) {
    return fail(refused_argument("docker", arguments.front(),
                                 "options before the command choose another daemon or "
                                 "configuration",
                                 "put the command first"));
  }
  const std::size_t words = TRY(count_command_words(arguments));
  const std::string_view command = arguments[words - 1];
  const Argv rest = arguments.subspan(words);
  if (command == "run" || command == "create") {
    const Scan scan = TRY(check_options(rest, {.flags = kRunFlags, .with_value = kRunOptions}));
    // docker refuses a network named twice.
    const std::span<const std::string_view> fixed(kRunFixed);
    return HardenedCommand{.argv = insert_after(argv, words, scan.network_given ? fixed.subspan(1) : fixed), .env = {}};
  }
  if (command == "build") {
    const Scan scan = TRY(check_options(rest, {.flags = kBuildFlags, .with_value = kBuildOptions}));
    const std::span<const std::string_view> fixed(kBuildFixed);
    return HardenedCommand{.argv = insert_after(argv, words, scan.network_given ? fixed.subspan(1) : fixed), .env = {}};
  }
  return HardenedCommand{.argv = {argv.begin(), argv.end()}, .env = {}};
}

}  // namespace sallyport::hardening
