// We tested every value here by hand on git 2.39.5 against a repo that sets each hook, command and driver to a canary
// (ADR-0001 has the table). ADR-0001 also lists what cannot be closed from outside: the repo chooses the names of
// filter, merge and textconv drivers, and the jail contains them.
#include "core/policy/hardening/git_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace sallyport::hardening {
namespace {

constexpr auto kSettings = std::to_array<GitSetting>({
    // "false", not empty: both work, but only false is documented to switch it off.
    GitSetting{"core.fsmonitor", "false"},
    // In a jail files belong to another id than the index says, so git would read every file again.
    GitSetting{"core.checkStat", "minimal"},
    GitSetting{"core.hooksPath", "/dev/null"},
    GitSetting{"core.pager", "cat"},
    GitSetting{"core.editor", ":"},  // git starts no program for ":"
    GitSetting{"core.askPass", ""},
    GitSetting{"core.sshCommand", "false"},
    GitSetting{"core.alternateRefsCommand", "true"},
    GitSetting{"credential.helper", ""},  // an empty value clears the helpers listed so far, those for one URL included
    GitSetting{"protocol.ext.allow", "never"},
    GitSetting{"gpg.program", "false"},
    GitSetting{"gpg.openpgp.program", "false"},
    GitSetting{"gpg.x509.program", "false"},
    GitSetting{"gpg.ssh.program", "false"},
    GitSetting{"gpg.ssh.defaultKeyCommand", "false"},
    GitSetting{"log.showSignature", "false"},  // would start gpg for a plain `git log`
    GitSetting{"commit.gpgSign", "false"},
    GitSetting{"tag.gpgSign", "false"},
    GitSetting{"commit.verbose", "false"},  // its diff runs textconv and takes no --no-textconv
    GitSetting{"color.ui", "false"},
    GitSetting{"color.interactive", "false"},  // interactive.diffFilter runs only when this is on
    GitSetting{"submodule.recurse", "false"},
    GitSetting{"fetch.recurseSubmodules", "false"},
    GitSetting{"push.recurseSubmodules", "no"},
    GitSetting{"diff.submodule", "short"},  // "diff" would start a second git without our --no-textconv
    GitSetting{"status.submoduleSummary", "false"},
    GitSetting{"gc.auto", "0"},
    GitSetting{"maintenance.auto", "false"},
    // git does not use a bare repo planted in a subdirectory; a caller can name one with --git-dir.
    GitSetting{"safe.bareRepository", "explicit"},
    // git refuses a repo of another uid because its configuration could run commands. We assume that of every repo, and
    // inside a jail the uid always differs.
    GitSetting{"safe.directory", "*"},
});

struct Variable {
  std::string_view name;
  std::string_view value;
};

constexpr auto kVariables = std::to_array<Variable>({
    // Allows no ext and no helper that the repo chooses; and neither file nor ssh, because for both
    // remote.<name>.uploadpack names a command that runs even for the lookup of a missing object in a partial clone
    // (CVE-2024-32004). Overrides protocol.<name>.allow.
    Variable{"GIT_ALLOW_PROTOCOL", "https:http"},
    Variable{"GIT_ASKPASS", ""},
    Variable{"GIT_ATTR_NOSYSTEM", "1"},
    Variable{"GIT_CONFIG_GLOBAL", "/dev/null"},
    Variable{"GIT_CONFIG_NOSYSTEM", "1"},
    Variable{"GIT_EDITOR", ":"},
    Variable{"GIT_NO_LAZY_FETCH", "1"},
    Variable{"GIT_OPTIONAL_LOCKS", "0"},
    Variable{"GIT_PAGER", "cat"},
    Variable{"GIT_PROXY_COMMAND", ""},  // overrides core.gitProxy, whose first value counts, not the last
    Variable{"GIT_SEQUENCE_EDITOR", ":"},
    Variable{"GIT_SSH_COMMAND", "false"},
    Variable{"GIT_TERMINAL_PROMPT", "0"},
    Variable{"SSH_ASKPASS", ""},
});

constexpr std::string_view kCount = "GIT_CONFIG_COUNT";

// Adds one setting: a pair of variables, and the count.
void add_pair(std::vector<EnvVar>& env, std::string_view key, std::string_view value) {
  const auto counter = std::ranges::find(env, kCount, &EnvVar::name);
  std::size_t count = 0;
  std::from_chars(counter->value.data(), counter->value.data() + counter->value.size(), count);
  counter->value = fmt::format("{}", count + 1);
  env.push_back({.name = fmt::format("GIT_CONFIG_KEY_{}", count), .value = std::string(key)});
  env.push_back({.name = fmt::format("GIT_CONFIG_VALUE_{}", count), .value = std::string(value)});
}

}  // namespace

std::span<const GitSetting> git_settings() { return kSettings; }

std::vector<EnvVar> git_env() {
  std::vector<EnvVar> env;
  for (const Variable& variable : kVariables) {
    env.push_back({.name = std::string(variable.name), .value = std::string(variable.value)});
  }
  return env;
}

std::vector<EnvVar> git_env_for_children() {
  std::vector<EnvVar> env = git_env();
  env.push_back({.name = std::string(kCount), .value = "0"});
  for (const GitSetting& setting : kSettings) add_pair(env, setting.key, setting.value);
  std::ranges::sort(env, {}, &EnvVar::name);
  return env;
}

void add_to_git_env_for_children(std::vector<EnvVar>& env, const GitConfiguration& git) {
  if (std::ranges::find(env, kCount, &EnvVar::name) == env.end()) return;
  for (const GitEntry& entry : git.overrides) add_pair(env, entry.key, entry.value);
  if (!git.work_tree.empty()) env.push_back({.name = "GIT_WORK_TREE", .value = git.work_tree});
  std::ranges::sort(env, {}, &EnvVar::name);
}

}  // namespace sallyport::hardening
