#include "core/policy/hardening/npm_commands.h"

#include <algorithm>
#include <array>

namespace sallyport::hardening {
namespace {

constexpr bool kPackages = true;
constexpr bool kScripts = true;
constexpr bool kWrites = true;

// Installing, inspecting, and the scripts a caller asks for by name (which --ignore-scripts leaves alone, without their
// pre and post scripts). Left out: explore, edit, init and other ways to start a program, and what acts on an account or
// the user's configuration. npm_exec.cc reads exec.
constexpr auto kNpmCommandsCommands = std::to_array<NpmCommand>({
    {"install", kPackages, false, kWrites},
    {"i", kPackages, false, kWrites},
    {"add", kPackages, false, kWrites},
    {"in", kPackages, false, kWrites},
    {"install-test", kPackages, kScripts, kWrites},
    {"it", kPackages, kScripts, kWrites},
    {"update", kPackages, false, kWrites},
    {"up", kPackages, false, kWrites},
    {"upgrade", kPackages, false, kWrites},
    {"pack", kPackages},
    {"view", kPackages},
    {"info", kPackages},
    {"show", kPackages},
    {"v", kPackages},
    {"diff", kPackages},
    {"ci", false, false, kWrites},
    {"clean-install", false, false, kWrites},
    {"ic", false, false, kWrites},
    {"install-clean", false, false, kWrites},
    {"install-ci-test", false, kScripts, kWrites},
    {"cit", false, kScripts, kWrites},
    {"uninstall", false, false, kWrites},
    {"remove", false, false, kWrites},
    {"rm", false, false, kWrites},
    {"un", false, false, kWrites},
    {"rebuild", false, false, kWrites},
    {"rb", false, false, kWrites},
    {"prune", false, false, kWrites},
    {"dedupe", false, false, kWrites},
    {"ddp", false, false, kWrites},
    {"audit", false, false, kWrites},
    {"shrinkwrap", false, false, kWrites},
    {"test", false, kScripts},
    {"t", false, kScripts},
    {"tst", false, kScripts},
    {"run", false, kScripts},
    {"run-script", false, kScripts},
    {"start", false, kScripts},
    {"stop", false, kScripts},
    {"restart", false, kScripts},
    {"ls"},
    {"list"},
    {"ll"},
    {"la"},
    {"outdated"},
    {"fund"},
    {"explain"},
    {"why"},
    {"query"},
    {"sbom"},
    {"search"},
    {"ping"},
    {"find-dupes"},
    {"root"},
    {"prefix"},
    {"help"},
    // With an argument it changes package.json, commits and tags.
    {"version", false, false, false, "-"},
    // set, delete and fix write.
    {"pkg", false, false, false, "get"},
    {"config", false, false, false, "get list ls"},
});

}  // namespace

std::span<const NpmCommand> npm_commands() { return kNpmCommandsCommands; }

const NpmCommand* find_npm_command(std::string_view name) {
  const auto* const found = std::ranges::find(kNpmCommandsCommands, name, &NpmCommand::name);
  return found == kNpmCommandsCommands.end() ? nullptr : found;
}

std::vector<std::string_view> npm_command_names() {
  std::vector<std::string_view> names;
  for (const NpmCommand& command : kNpmCommandsCommands) names.push_back(command.name);
  return names;
}

bool takes_verb(const NpmCommand& command, std::string_view verb) {
  if (command.verbs.empty()) return true;
  const std::string_view wanted = verb.empty() ? "-" : verb;
  for (std::string_view rest = command.verbs; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(' '));
    if (one == wanted) return true;
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  return false;
}

}  // namespace sallyport::hardening
