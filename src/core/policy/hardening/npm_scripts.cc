#include "core/policy/hardening/npm_scripts.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/errors.h"
#include "core/policy/hardening/npm_keys.h"

namespace sallyport::hardening {
namespace {

constexpr std::string_view kField = "allow_package_scripts";
constexpr std::string_view kScriptsOff = "--ignore-scripts";
// These run the script that the caller names, and its pre and post scripts.
constexpr auto kByName =
    std::to_array<std::string_view>({"test", "t", "tst", "run", "run-script", "start", "stop", "restart"});
constexpr auto kRebuild = std::to_array<std::string_view>({"rebuild", "rb"});

template <class List>
bool is_among(const List& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Accepts only the plainest spelling: the command first, and for rebuild only names. Otherwise npm could read a name as
// the value of an option, and `npm rebuild` without a name rebuilds everything.
Status check_command(std::span<const std::string> argv) {
  const std::string_view command = argv.size() > 1 ? std::string_view(argv[1]) : std::string_view();
  if (is_among(kByName, command)) return {};
  if (!is_among(kRebuild, command)) {
    return fail(invalid_request(kField, "only npm test, run, start, stop, restart and rebuild may run scripts",
                                "put the command first, or do not allow scripts"));
  }
  const std::span<const std::string> names = argv.subspan(2);
  const bool plain = std::ranges::none_of(names, [](const std::string& name) {
    return name.empty() || name.starts_with('-') || name.starts_with('.') || name.starts_with('/') ||
           name.starts_with('~') || name.find(':') != std::string::npos;
  });
  if (!names.empty() && plain) return {};
  return fail(invalid_request(kField, "npm rebuild must name the packages whose scripts may run, and nothing else",
                              "write npm rebuild NAME …"));
}

void set(std::vector<EnvVar>& env, std::string_view key, std::string_view value) {
  const auto var = std::ranges::find(env, npm_variable(key), &EnvVar::name);
  if (var != env.end()) var->value = std::string(value);
}

}  // namespace

Status let_scripts_run(const ToolEntry& tool, std::span<const std::string> argv, std::span<const HostRule> hosts,
                       HardenedCommand& command) {
  if (tool.hardening != "npm") {
    return fail(invalid_request(kField, "it is for npm alone", "leave it out"));
  }
  if (!hosts.empty()) {
    return fail(invalid_request(kField, "scripts never run with a network", "allow no host in the same call"));
  }
  TRY(check_command(argv));
  // Our option comes right after the name; a later one is the caller's.
  const bool is_ours = command.argv.size() > 1 && command.argv[1] == kScriptsOff;
  if (!is_ours) return fail(invalid_request(kField, "the command was not hardened as expected", "report this"));
  command.argv[1] = "--ignore-scripts=false";
  set(command.env, "ignore-scripts", "false");
  // npm 12 checks the project's own list of packages whose scripts may run. Here the caller has named them.
  if (is_among(kRebuild, argv[1])) set(command.env, "dangerously-allow-all-scripts", "true");
  command.needs_jail = "it runs scripts of the repo and its packages";
  return {};
}

}  // namespace sallyport::hardening
