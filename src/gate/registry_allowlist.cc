#include "sallyport/registry_allowlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/egress/npmrc.h"
#include "core/egress/registry_endpoint.h"
#include "core/egress/registry_url.h"
#include "core/errors.h"
#include "core/view/paths.h"
#include "gate/policy_file.h"
#include "locate/trust.h"
#include "os/canonical.h"
#include "os/file.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// npm looks for a project's .npmrc from its working directory upwards. In this directory only root can have put one.
constexpr std::string_view kNeutralPlace = "/etc";
constexpr std::chrono::milliseconds kNpmPatience = 30s;
constexpr ByteCount kLongestAnswer{64 * 1024};
constexpr ByteCount kLargestNpmrc{1024 * 1024};

Error registry_unknown(std::string_view why, std::string_view hint) { return invalid_request("registry", why, hint); }

Status check_repo_is_elsewhere(const GateConfig& config) {
  static constexpr std::string_view kHint = "name the hosts with `allowed_hosts` instead";
  if (is_inside(kNeutralPlace, config.repo)) {
    return fail(registry_unknown(fmt::format("{} lies in the analysed repo", kNeutralPlace), kHint));
  }
  for (const EnvVar& var : config.base_env) {
    if (var.name != "HOME") continue;
    std::error_code error;
    const fs::path home = fs::canonical(var.value, error);
    if (!error && is_inside(home, config.repo)) {
      return fail(registry_unknown("your home, and so your .npmrc, lies in the analysed repo", kHint));
    }
  }
  const Trusted<TrustedNode> place = trusted_directory(kNeutralPlace, TrustContext::current(config.repo));
  if (place) return {};
  return fail(registry_unknown(fmt::format("{} {}", place.error().where, place.error().why), kHint));
}

// The other gate does not know the analysed repo, from which nothing may be executed.
Status check_program_is_elsewhere(const Explanation& explanation, const fs::path& repo) {
  std::vector<ExecutableIdentity> files(explanation.interpreters.begin(), explanation.interpreters.end());
  files.push_back(explanation.binary);
  for (const ExecutableIdentity& file : files) {
    const std::string& path = path_of(file);
    if (is_inside(path, repo)) {
      return fail(untrusted_tool("npm", path, fmt::format("{} lies in the analysed repo", path),
                                 "take the repo's directories out of PATH"));
    }
  }
  return {};
}

fs::path home_npmrc(const GateConfig& config) {
  const auto home = std::ranges::find(config.base_env, "HOME", &EnvVar::name);
  return home == config.base_env.end() ? fs::path() : fs::path(home->value) / ".npmrc";
}

Result<std::string> npmrc_of(const GateConfig& config) {
  const fs::path named = config.npm.npmrc.empty() ? home_npmrc(config) : config.npm.npmrc;
  const Result<fs::path> file = canonical_existing(named, "registry_auth");
  if (!file) {
    return fail(invalid_request("registry_auth", "you have no .npmrc to take credentials from",
                                "`npm login` writes one in your home"));
  }
  std::error_code error;
  const fs::path repo = fs::canonical(config.repo, error);
  if (error || is_inside(*file, repo)) {
    return fail(invalid_request("registry_auth", "your .npmrc lies in the analysed repo",
                                "keep credentials where no stranger writes"));
  }
  return read_whole_file(*file, kLargestNpmrc);
}

Result<std::string> ask_npm(const GateConfig& config) {
  TRY(check_repo_is_elsewhere(config));
  GateConfig neutral = config;
  neutral.repo = kNeutralPlace;
  if (neutral.policy) neutral.allowlist = TRY(load_allowlist(neutral.policy, config.repo));
  neutral.policy.reset();
  const std::unique_ptr<Gate> gate = TRY(Gate::open(std::move(neutral)));
  const JailedSubprocessSpec question{.argv = {"npm", "config", "get", "registry", "--logs-max=0"},
                                      .repo = kNeutralPlace,
                                      .cwd = kNeutralPlace,
                                      .limits = {.wall = kNpmPatience, .output = kLongestAnswer}};
  const Explanation explanation = TRY(gate->explain(question, JailKind::kNone));
  TRY(check_program_is_elsewhere(explanation, config.repo));
  Result<JailedSubprocessResult> asked = gate->run(question, JailKind::kNone, {});
  if (!asked) {
    asked.error().tool_may_have_started = false;  // npm may have; the tool of the call that asks has not
    return fail(std::move(asked).error());
  }
  const JailedSubprocessResult& answer = *asked;
  const auto* completed = std::get_if<Completed>(&answer.outcome);
  const auto* code = completed != nullptr ? std::get_if<ExitCode>(&completed->fate) : nullptr;
  if (code == nullptr || code->value != 0) {
    return fail(registry_unknown("npm does not say which one it uses", "see what `npm config get registry` says"));
  }
  std::string registry = answer.stdout_stream.bytes;
  while (registry.ends_with('\n')) registry.pop_back();
  return registry;
}

// What npm would read from variables that we do not pass to it.
Result<std::optional<std::string>> registry_named(const GateConfig& config) {
  const OperatorNpm& npm = config.npm;
  if (!npm.registry.empty()) return npm.registry;
  std::error_code error;
  if (npm.npmrc.empty() || !fs::exists(npm.npmrc, error)) return std::nullopt;  // npm skips a missing .npmrc
  return registry_in(TRY(npmrc_of(config)), npm.variable);
}

}  // namespace

Status RegistryAllowlist::add_credentials(const GateConfig& config) {
  const std::string text = TRY(npmrc_of(config));
  std::string authorization = TRY(registry_authorization(text, registry, config.npm.variable));
  RegistryCredentials found = TRY(RegistryCredentials::of(registry, std::move(authorization)));
  endpoint = registry_endpoint(found).url();
  credentials = std::move(found);
  return {};
}

Result<RegistryAllowlist> RegistryAllowlist::of_npm(const GateConfig& config) {
  std::optional<std::string> named = TRY(registry_named(config));
  RegistryAllowlist allowlist{.registry = named ? *std::move(named) : TRY(ask_npm(config))};
  allowlist.hosts.push_back(TRY(registry_host_rule(allowlist.registry)));
  return allowlist;
}

void RegistryAllowlist::apply_to(JailedSubprocessSpec& spec) const {
  spec.allowed_hosts.insert(spec.allowed_hosts.end(), hosts.begin(), hosts.end());
  if (credentials) spec.registry_credentials = credentials;
  if (spec.argv.empty() || spec.argv.front() != "npm") return;
  // One argument, right after the name: of several, npm takes the last.
  spec.argv.insert(spec.argv.begin() + 1, "--registry=" + (credentials ? endpoint : registry));
  // The registry's own answers, and lock files, name it by its real URL.
  if (credentials) spec.argv.insert(spec.argv.begin() + 2, "--replace-registry-host=always");
}

}  // namespace sallyport
