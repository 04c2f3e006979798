// What a lock file shows before anything is fetched. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/report/finding.h"
#include "jobs/validate/lockfile.h"
#include "jobs/validate/url.h"

namespace sallyport::jobs {

// The rules of every finding that validate makes.
[[nodiscard]] std::span<const RuleInfo> lock_rules();

struct LockQuestion {
  const Lockfile* lock = nullptr;
  const Manifest* manifest = nullptr;
  std::string_view lock_path{};  // "package-lock.json"
  std::string_view lock_text{};  // for the lines of the findings
  WebPlace registry{};
  std::vector<std::string> known_hosts{};  // of other registries that are not foreign
};

[[nodiscard]] std::vector<Finding> check_lock(const LockQuestion& question);

// By place, rule and message; removes duplicates. One place may have several findings.
[[nodiscard]] std::vector<Finding> sorted(std::vector<Finding> findings);

// A finding of one of lock_rules(); the severity is the rule's.
[[nodiscard]] Finding lock_finding(std::string_view rule, std::string message, Place place);

}  // namespace sallyport::jobs
