// Overrides for the dangerous keys of a repo's git configuration, once git has listed them (ADR-0026). The repo chooses
// the names of filters, drivers, hooks and aliases, so we must know them before we can override them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/hardening/facts.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// The key as git prints it: section and name in lower case, the middle part unchanged.
struct GitEntry {
  std::string key{};
  std::string value{};
  bool operator==(const GitEntry&) const = default;
};

// What is known of the repo's configuration: what a listing has led to, and whether the run can write it.
struct GitConfiguration {
  std::vector<GitEntry> overrides{};
  std::string work_tree{};  // set when the repo's configuration would move it
  std::vector<std::string>
      skip_lists{};      // keys that name a file of objects to skip; git reads each of them, whatever is set later
  bool is_shut = false;  // the run writes the repo and not this
};

}  // namespace sallyport

namespace sallyport::hardening {

inline constexpr std::size_t kMostGitOverrides = 2000;

// The output of `git config --list -z`, taken apart. Text that git would not print is an error.
[[nodiscard]] Result<std::vector<GitEntry>> parse_git_listing(std::string_view listing);

// One entry for each dangerous key, sorted and unique; the fixed settings of git_config.h are not repeated. An error
// for a key that no setting can override, and for more than kMostGitOverrides.
[[nodiscard]] Result<std::vector<GitEntry>> git_overrides(std::span<const GitEntry> listed);

// For argv, before the command's name. Submodules' git processes inherit what is set there.
struct GitArguments {
  std::vector<std::string> argv{};
  std::vector<EnvVar> env{};  // variables that argv refers to
};
[[nodiscard]] GitArguments as_arguments(std::span<const GitEntry> overrides);

// The keys of the listing that name a file of objects to skip (fsck.skipList and similar): git prints the first line
// that is no object, from any file, and no later value overrides these keys.
[[nodiscard]] std::vector<std::string> skip_lists_in(std::span<const GitEntry> listed);

// True when the listing has a core.worktree, which can move the working tree anywhere on the host.
[[nodiscard]] bool moves_work_tree(std::span<const GitEntry> listed);

// Everything that git's hardening does, from the tables that it uses.
[[nodiscard]] std::vector<HardeningFact> git_facts();

}  // namespace sallyport::hardening
