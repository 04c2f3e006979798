#include <algorithm>
#include <array>

#include "core/hardening/git_config.h"
#include "core/hardening/hardeners.h"
#include "core/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::array<std::string_view, 1> kSemgrepFixed = {"--metrics=off"};
// Without one of these as its first argument semgrep scans, and its options may come at once.
constexpr std::array<std::string_view, 2> kScanning = {"scan", "ci"};
constexpr std::array<std::string_view, 7> kRefusedCommands = {
    "login", "logout", "publish", "lsp", "mcp", "install-semgrep-pro", "install-ci"};
constexpr std::array<std::string_view, 2> kRunsRuleCode = {"--allow-untrusted-validators",
                                                           "--dangerously-allow-arbitrary-code-execution-from-rules"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Status check_arguments(Argv arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (may_abbreviate(argument, "--metrics")) {
      const LongOption option = split_long(argument);
      const std::string_view next = i + 1 < arguments.size() ? std::string_view(arguments[i + 1]) : std::string_view();
      if ((option.has_value ? option.value : next) == "off") continue;
      return fail(refused_argument("semgrep", argument, "metrics are always off", "leave it out"));
    }
    for (const std::string_view option : kRunsRuleCode) {
      if (!may_abbreviate(argument, option)) continue;
      // "--a…" and "--d…" are shared with harmless options: refuse from where only this one can be meant.
      constexpr std::size_t kUnmistakable = 9;
      if (split_long(argument).name.size() < kUnmistakable) continue;
      return fail(refused_argument("semgrep", argument, "rules may not run code", "leave it out"));
    }
  }
  return {};
}

}  // namespace

Result<HardenedCommand> harden_semgrep(Argv argv) {
  const Argv arguments = argv.subspan(1);
  const std::string_view first = arguments.empty() ? std::string_view() : std::string_view(arguments.front());
  if (contains(kRefusedCommands, first)) {
    return fail(refused_argument("semgrep", first, "it acts on an account or serves others", "use scan or ci"));
  }
  TRY(check_arguments(arguments.first(count_option_arguments(arguments))));
  std::vector<EnvVar> env = git_env_for_children();  // semgrep asks git for the files to scan
  env.push_back({.name = "SEMGREP_ENABLE_VERSION_CHECK", .value = "0"});
  env.push_back({.name = "SEMGREP_SEND_METRICS", .value = "off"});
  return HardenedCommand{.argv = insert_after(argv, contains(kScanning, first) ? 1 : 0, kSemgrepFixed),
                         .env = std::move(env)};
}

}  // namespace sallyport::hardening
