// Before a tool that is git, or starts it, git lists the repo's configuration, in the same jail and with the same limits.
// Listing starts no program; we then override the settings that it shows (core/policy/hardening/git_overrides.h,
// ADR-0026).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/policy/hardening.h"
#include "sallyport/jail.h"

namespace sallyport {

// Runs one question to git and returns its result.
using AskGit = std::function<Result<JailedSubprocessResult>(const JailedSubprocessSpec&)>;

struct GitLearnt {
  GitConfiguration configuration{};
  std::string version{};  // as git prints it; empty when it does not
  // A question that did not end by itself (out of time, cancelled, out of memory): the whole call ends with it.
  std::optional<JailedSubprocessResult> ended{};
};

// `spec` has canonical paths.
[[nodiscard]] Result<GitLearnt> learn_git_configuration(const GitQuestion& question, const JailedSubprocessSpec& spec,
                                                        const AskGit& ask);

// Variables with which git says its version on stderr, at no cost (git 2.22; Documentation/technical/api-trace2).
[[nodiscard]] std::vector<EnvVar> git_version_env();

// True when this gate does not know the configuration keys of that version, because it is newer.
[[nodiscard]] bool is_newer_than_known_git(std::string_view version);
inline constexpr std::string_view kNewestKnownGit = "2.55";

}  // namespace sallyport
