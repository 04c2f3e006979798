// What outranks the dangerous keys of a repo's own git configuration, once git has listed them (ADR-0026). The names of
// filters, drivers, hooks and aliases are the repo's choice, so they cannot be overridden before they are known.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/hardening/facts.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// The key as git prints it: section and name in lower case, what is between them byte for byte.
struct GitEntry {
  std::string key{};
  std::string value{};
  bool operator==(const GitEntry&) const = default;
};

// What a listing has led to.
struct GitConfiguration {
  std::vector<GitEntry> overrides{};
  std::string work_tree{};  // set when the repo's configuration would move it
  std::vector<std::string>
      skip_lists{};  // keys that name a file of objects to skip; git reads each, whatever is set later
};

}  // namespace sallyport

namespace sallyport::hardening {

inline constexpr std::size_t kMostGitOverrides = 2000;

// The output of `git config --list -z`, taken apart. Anything git would not print is an error.
[[nodiscard]] Result<std::vector<GitEntry>> parse_git_listing(std::string_view listing);

// One entry for each dangerous key, sorted and unique; the fixed settings of git_config.h are not repeated. An error for a
// key that no setting outranks, and for more than kMostGitOverrides.
[[nodiscard]] Result<std::vector<GitEntry>> git_overrides(std::span<const GitEntry> listed);

// For argv, before the command's name. Submodules' git processes inherit what is set there.
struct GitArguments {
  std::vector<std::string> argv{};
  std::vector<EnvVar> env{};  // that argv refers to
};
[[nodiscard]] GitArguments as_arguments(std::span<const GitEntry> overrides);

// The keys of the listing that name a file of objects to skip (fsck.skipList and its kin): git prints the first line that is no
// object, whichever file that is, and no later value outranks them.
[[nodiscard]] std::vector<std::string> skip_lists_in(std::span<const GitEntry> listed);

// Whether the listing has a core.worktree, which moves the working tree anywhere on the host.
[[nodiscard]] bool moves_work_tree(std::span<const GitEntry> listed);

// Everything git's hardening does, from the tables it acts on.
[[nodiscard]] std::vector<HardeningFact> git_facts();

}  // namespace sallyport::hardening
