// npx and npm exec: they run only a program installed in the repo's own node_modules. npm would fetch a missing one;
// --no prevents that, and we refuse calls that name a source to fetch from.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/npm_environment.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::string_view kRunsInstalled = "it runs a program from the repo's node_modules with your rights";
constexpr std::string_view kInstallFirst = "install it in the repo first: npm install --save-dev NAME";

// From npm 11 and earlier; each is a flag, so the next word cannot be its value.
constexpr auto kNpmExecFlags = std::to_array<std::string_view>(
    {"--no", "--no-install", "--offline", "--silent", "-s", "--quiet", "-q", "--ignore-scripts"});
constexpr std::array<std::string_view, 2> kNpmExecFixed = {"--no", "--ignore-scripts"};

constexpr bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// "eslint" or "@scope/tool". npm would fetch a version, a path, a URL or user/repo.
bool is_installed_name(std::string_view name) {
  if (name.starts_with('@')) {
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || slash == 1) return false;
    return std::ranges::all_of(name.substr(1, slash - 1), is_plain) && is_installed_name(name.substr(slash + 1));
  }
  return !name.empty() && name.front() != '.' && name.front() != '-' && std::ranges::all_of(name, is_plain);
}

}  // namespace

Result<HardenedCommand> harden_npm_exec(Argv argv, std::size_t words) {
  const std::string tool = words == 1 ? argv.front() : fmt::format("{} {}", argv[0], argv[1]);
  const Argv arguments = argv.subspan(words);
  HardenedCommand out{.argv = insert_after(argv, words - 1, kNpmExecFixed), .env = npm_env({})};
  if (words == 1 && arguments.size() == 1 && (arguments[0] == "--version" || arguments[0] == "--help")) return out;
  std::size_t at = 0;
  for (; at < arguments.size() && is_option(arguments[at]) && arguments[at] != "--"; ++at) {
    if (std::ranges::find(kNpmExecFlags, arguments[at]) != kNpmExecFlags.end()) continue;
    return fail(
        refused_argument(tool, arguments[at], "only a program that is installed in the repo may run", kInstallFirst));
  }
  const bool separated = at < arguments.size() && arguments[at] == "--";
  if (separated) ++at;
  if (at >= arguments.size()) return fail(refused_argument(tool, tool, "it names no program", "name one: npx tsc"));
  if (!is_installed_name(arguments[at])) {
    return fail(
        refused_argument(tool, arguments[at], "it would be fetched, not taken from node_modules", kInstallFirst));
  }
  // npx passes on everything after the name; npm exec reads options there unless "--" comes first.
  const Argv rest = arguments.subspan(at + 1);
  const auto option = std::ranges::find_if(rest, [](const std::string& word) { return is_option(word); });
  if (words > 1 && !separated && option != rest.end()) {
    return fail(refused_argument(tool, *option, "npm would take it for an option of its own",
                                 fmt::format("write npm exec -- {} …", arguments[at])));
  }
  out.needs_jail = std::string(kRunsInstalled);
  return out;
}

namespace {

Result<HardenedCommand> harden_npx(Argv argv) { return harden_npm_exec(argv, 1); }

std::vector<HardeningFact> npx_facts() {
  using Kind = HardeningFact::Kind;
  return {
      {Kind::kForced, "--no", "a program that is not installed would be fetched and run"},
      {Kind::kForced, "--ignore-scripts", "install scripts run otherwise"},
      {Kind::kForced, "npm's variables (see npm)", "the repo's .npmrc would decide"},
      {Kind::kRefused, "every call without a jail", kRunsInstalled},
      {Kind::kRefused, "--yes, --package, --call, versions, paths, URLs, user/repo", "they fetch, or run a shell"},
  };
}

}  // namespace

extern constinit const HardeningRow kNpxHardening{.name = "npx",
                                                  .harden = by_argv<harden_npx>,
                                                  .facts = npx_facts,
                                                  .git_question = of_a_tool_that_starts_git,
                                                  .reads_npm_layout = true};

}  // namespace sallyport::hardening
