// Turns a request into a plan: admits it, hardens it, adds the paths. Makes every check that needs no file system once,
// in one fixed order (docs/architecture.md, life of a call).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/policy/hardening.h"
#include "core/view/paths.h"
#include "sallyport/jail.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// The spec's paths as the gate resolved them: absolute, without symlinks, directories where directories are expected.
struct CanonicalPaths {
  std::filesystem::path repo;
  std::filesystem::path cwd;
  std::vector<std::filesystem::path> extra_read_only;
  std::vector<std::filesystem::path> extra_read_write;
  std::vector<std::filesystem::path> hidden{};
  std::vector<std::filesystem::path> no_exec{};
  std::optional<std::filesystem::path> extra_ca{};
  std::optional<UserIds> owner{};  // the repo's owner, when a jailed tool must run as that user
};

// MAX_ARG_STRLEN of the kernel, with the terminating NUL.
inline constexpr std::size_t kLongestArgument = 128 * 1024;
// The limit for arguments and environment together, with terminators and pointers. The kernel's limit is a quarter of
// the stack limit, by default 2 MiB; we leave half of that for what a jail adds.
inline constexpr std::size_t kLargestCommand = 1024 * 1024;
inline constexpr ByteCount kLargestMaxOutput = mebibytes(4096);

// A call that may be made, as far as that can be said without the file system: decided once, before anything else happens. The
// audit log has what was asked (AuditCall), whether or not it came to this.
struct AdmittedCall {
  std::optional<ProbeId> probe{};
  ToolEntry tool{};
  // argv, and the variables that outrank the environment. Final but for what only a later step can know (ADR 0116).
  HardenedCommand command{};
  std::vector<EnvVar> env{};                 // the base's four and the caller's extras; PATH as the base has it
  std::vector<HostRule> hosts{};             // the tool's hosts from the policy, then the caller's
  std::optional<UpstreamProxy> via_proxy{};  // read from the caller's text
  std::optional<GitQuestion> git_first{};    // the question to git before the final hardening
};

// Refuses in the contract's order: the probe's name (C12), the tool's (C2, C4), arguments, limits, environment, then what the tool's hardening forbids.
[[nodiscard]] Result<AdmittedCall> admit(const Allowlist& allowlist, const JailedSubprocessSpec& spec,
                                         std::span<const EnvVar> base_env);

// Hardens the same call again, with what git has listed.
[[nodiscard]] Status harden_for(const GitConfiguration& git, const Allowlist& allowlist,
                                const JailedSubprocessSpec& spec, AdmittedCall& call);

// Adds what depends on paths: `trusted_path` becomes the child's PATH; no PATH when it is empty.
[[nodiscard]] Result<Plan> make_plan(const AdmittedCall& call, const JailedSubprocessSpec& spec,
                                     const CanonicalPaths& paths, const std::string& trusted_path);

}  // namespace sallyport
