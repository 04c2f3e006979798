// From a request to a plan: every check that needs no file system, in one fixed order (DESIGN.md, life of a call).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/policy/hardening/git_overrides.h"
#include "core/view/paths.h"
#include "sallyport/jail.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// The spec's paths as the gate found them: absolute, every symlink followed, directories where directories are wanted.
struct CanonicalPaths {
  std::filesystem::path repo;
  std::filesystem::path cwd;
  std::vector<std::filesystem::path> extra_read_only;
  std::vector<std::filesystem::path> extra_read_write;
};

// MAX_ARG_STRLEN of the kernel, with the terminating NUL.
inline constexpr std::size_t kLongestArgument = 128 * 1024;
// Of arguments and environment together, with terminators and pointers. The kernel stops at a quarter of the stack
// limit, by default 2 MiB; the other half is left to what a jail adds.
inline constexpr std::size_t kLargestCommand = 1024 * 1024;
inline constexpr ByteCount kLargestMaxOutput = mebibytes(4096);

// C2 alone: to be called before anything touches the file system.
[[nodiscard]] Status check_admission(const Allowlist& allowlist, std::span<const std::string> argv);

// The checks of a spec that need no canonical path (admission included), for a gate that wants them before it resolves
// any.
[[nodiscard]] Status check_request(const Allowlist& allowlist, const JailedSubprocessSpec& spec);

// All checks, then the plan. The environment is filtered and the tool's hardening is in argv and env; `git` is what git
// has listed, once it was asked.
[[nodiscard]] Result<Plan> make_plan(const Allowlist& allowlist, const JailedSubprocessSpec& spec,
                                     const CanonicalPaths& paths, std::span<const EnvVar> base_env,
                                     const GitConfiguration& git = {});

}  // namespace sallyport
