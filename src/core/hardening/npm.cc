#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/did_you_mean.h"
#include "core/hardening/git_config.h"
#include "core/hardening/hardeners.h"
#include "core/hardening/options.h"

namespace sallyport::hardening {
namespace {

// On the command line and in the environment (C25): the first outranks every .npmrc, the second reaches the npm that
// npm itself starts.
constexpr std::array<std::string_view, 1> kNpmFixed = {"--ignore-scripts"};

// Installing, inspecting, and the scripts a caller asks for by name (which --ignore-scripts leaves alone, without their
// pre and post scripts). Left out: exec, explore, edit, init and other ways to start a program, and what acts on an
// account or the user's configuration. npm completes abbreviated commands, so only whole names are taken.
constexpr auto kNpmCommands = std::to_array<std::string_view>({
    "install",
    "i",
    "add",
    "in",
    "ci",
    "clean-install",
    "ic",
    "install-clean",
    "install-test",
    "it",
    "install-ci-test",
    "cit",
    "uninstall",
    "remove",
    "rm",
    "un",
    "update",
    "up",
    "upgrade",
    "rebuild",
    "rb",
    "prune",
    "dedupe",
    "ddp",
    "find-dupes",
    "shrinkwrap",
    "pack",
    "test",
    "t",
    "tst",
    "run",
    "run-script",
    "start",
    "stop",
    "restart",
    "ls",
    "list",
    "ll",
    "la",
    "outdated",
    "audit",
    "fund",
    "explain",
    "why",
    "query",
    "sbom",
    "view",
    "info",
    "show",
    "v",
    "search",
    "ping",
    "root",
    "prefix",
    "config",
    "diff",
});
constexpr std::array<std::string_view, 3> kConfigVerbs = {"get", "list", "ls"};

struct NpmRefused {
  std::string_view name;
  std::string_view why;
};
constexpr std::string_view kProgram = "it names a program or code to run";
constexpr std::string_view kConfig = "it names another configuration";
constexpr std::string_view kOutside = "it acts outside the repo";
constexpr auto kNpmRefused = std::to_array<NpmRefused>({
    NpmRefused{"script-shell", kProgram},
    NpmRefused{"shell", kProgram},
    NpmRefused{"node-options", kProgram},
    NpmRefused{"node-gyp", kProgram},
    NpmRefused{"git", kProgram},
    NpmRefused{"editor", kProgram},
    NpmRefused{"viewer", kProgram},
    NpmRefused{"browser", kProgram},
    NpmRefused{"init-module", kProgram},
    NpmRefused{"call", kProgram},
    NpmRefused{"onload-script", kProgram},
    NpmRefused{"userconfig", kConfig},
    NpmRefused{"globalconfig", kConfig},
    NpmRefused{"prefix", kOutside},
    NpmRefused{"local-prefix", kOutside},
    NpmRefused{"global", kOutside},
    NpmRefused{"location", kOutside},
    NpmRefused{"global-style", kOutside},
});
// Whole options that are also the beginning of a refused one.
constexpr std::array<std::string_view, 1> kNpmWholeOptions = {"init"};

// Single-dash spellings npm knows and that change nothing here; npm expands and combines others in surprising ways.
constexpr auto kShorts =
    std::to_array<std::string_view>({"-a", "-d", "-dd", "-ddd", "-f", "-h", "-l", "-n", "-q", "-s",
                                     "-v", "-w", "-ws", "-y",   "-B", "-D", "-E", "-O", "-P", "-S"});

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// As npm's parser (nopt) sees it: any number of dashes, any number of "no-".
std::string option_name(std::string_view argument) {
  std::string name = to_lower(split_long(argument).name);
  name.erase(0, name.find_first_not_of('-'));
  while (name.starts_with("no-")) name.erase(0, 3);
  return name;
}

bool is_in_list(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// nopt takes a following "false" as the option's value.
bool keeps_scripts_off(std::string_view argument, std::string_view next) {
  if (argument == "--ignore-scripts=true") return true;
  return argument == "--ignore-scripts" && next != "false" && next != "null";
}

Status check_argument(std::string_view argument, std::string_view next) {
  if (!is_long(argument)) {
    if (is_in_list(kShorts, argument)) return {};
    return fail(refused_argument("npm", argument, "not a short option known to be harmless", "write the long form"));
  }
  const std::string name = option_name(argument);
  if (name.empty()) return {};
  if (std::string_view("ignore-scripts").starts_with(name)) {
    if (keeps_scripts_off(argument, next)) return {};
    return fail(refused_argument("npm", argument, "install scripts are always off", "leave it out"));
  }
  if (is_in_list(kNpmWholeOptions, name)) return {};
  for (const NpmRefused& refused : kNpmRefused) {
    // Also what npm would complete to it: "--script-sh".
    const bool meant = refused.name == name || (name.size() > 1 && refused.name.starts_with(name));
    if (meant) return fail(refused_argument("npm", argument, refused.why, "leave it out"));
  }
  return {};
}

Status check_command(Argv arguments) {
  const auto command = std::ranges::find_if(arguments, [](const std::string& a) { return !is_option(a); });
  if (command == arguments.end()) return {};  // --version, -h
  if (!is_in_list(kNpmCommands, *command)) {
    const std::string suggestion = did_you_mean(*command, kNpmCommands);
    return fail(refused_argument("npm", *command, "not one of the commands npm may run here",
                                 suggestion.empty() ? "put the command first, its options after it" : suggestion));
  }
  if (*command == "config") {
    const auto verb = std::find_if(command + 1, arguments.end(), [](const std::string& a) { return !is_option(a); });
    if (verb == arguments.end() || !is_in_list(kConfigVerbs, *verb)) {
      return fail(
          refused_argument("npm", "config", "the configuration may only be read", "use config get or config list"));
    }
  }
  return {};
}

std::vector<EnvVar> npm_env() {
  std::vector<EnvVar> env = git_env_for_children();  // npm starts git for git dependencies
  env.push_back({.name = "npm_config_audit", .value = "false"});
  env.push_back({.name = "npm_config_fund", .value = "false"});
  env.push_back({.name = "npm_config_ignore_scripts", .value = "true"});
  env.push_back({.name = "npm_config_update_notifier", .value = "false"});
  return env;
}

}  // namespace

Result<HardenedCommand> harden_npm(Argv argv) {
  const Argv arguments = argv.subspan(1);
  const Argv options = arguments.first(count_option_arguments(arguments));
  TRY(check_command(options));
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string_view next = i + 1 < options.size() ? std::string_view(options[i + 1]) : std::string_view();
    if (is_option(options[i])) TRY(check_argument(options[i], next));
  }
  // In front of everything, so before any "--", and where no later spelling that could win is accepted.
  return HardenedCommand{.argv = insert_after(argv, 0, kNpmFixed), .env = npm_env()};
}

}  // namespace sallyport::hardening
