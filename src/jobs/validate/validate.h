// Installs and tests an untrusted npm project (C32): four stages in one workspace in a jail, each with a typed result,
// and one verdict. Nothing reaches the host's repo; the report lists what the project left in the workspace.
//
//   lock    read package-lock.json, or make it; look for what should not be in it
//   fetch   npm ci with scripts off; only the registry can be reached
//   build   install scripts of exactly the packages named; no network
//   test    npm test with the project's own scripts; no network
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/report/context.h"
#include "jobs/validate/verdict.h"
#include "sallyport/audit.h"
#include "sallyport/registry_allowlist.h"
#include "sallyport/workspace.h"

namespace sallyport::jobs {

struct ValidateOptions {
  // "[http://|https://]HOST[:PORT][=ADDR:PORT]", https unless it says otherwise; unset: what the operator's own npm is set to.
  std::optional<std::string> registry{};
  bool registry_auth = false;                // with the operator's credentials there (JailedSubprocessSpec)
  std::vector<std::string> lock_hosts{};     // host or host:port that a lock file may name besides the registry
  std::vector<std::string> more_hosts{};     // host rules: what fetch may reach besides the registry
  std::vector<std::string> allow_scripts{};  // names of packages; empty: no build stage
  std::optional<std::chrono::seconds> min_age{};
  std::chrono::sys_seconds now{};
  bool signatures = false;  // npm audit signatures, which needs a host of Sigstore's, too
  Severity threshold = Severity::kHigh;
  ByteCount disk = kDefaultWorkspaceQuota;  // of everything that the stages write
  std::uint32_t pids = 1024;
  std::filesystem::path cache_dir{};  // of tarballs (npm_cache.h); empty: none
  std::filesystem::path state_dir{};  // of workspaces
  JailKind jail = JailKind::kAuto;
  EventSink* events = nullptr;  // borrowed
  // Called on the thread that runs the job: a stage starts (no result yet) or ends, and the last line that its tool printed.
  std::function<void(StageId, const StageResult*)> progress{};
  std::function<void(StageId, std::string_view line)> said{};
};

struct CacheReport {
  std::size_t wanted = 0;  // tarballs that the lock file names by SHA-512
  std::size_t cached = 0;  // of these already there
  std::size_t added = 0;
  std::vector<std::string> rejected{};  // SHA-512 that what was fetched did not have
  std::string problem{};
};

struct ValidateReport {
  Verdict verdict{};
  std::vector<StageResult> stages{};  // lock, fetch, build, test
  std::vector<RuleInfo> rules{};      // of the stages' findings
  std::string registry{};             // the URL
  CacheReport cache{};
  WorkspaceDiff changes{};           // every path that differs from the repo, and what of it would run later outside
  std::string changes_problem{};     // why they could not be listed; empty: they are all here
  std::vector<std::string> notes{};  // a limit that this host cannot set, …
};

[[nodiscard]] ValidateReport run_validate(const JobContext& context, const ValidateOptions& options);

// For the audit log: each stage a step.
[[nodiscard]] AuditJob audit_of(const ValidateReport& report, const ValidateOptions& options);

[[nodiscard]] std::string validate_sarif(const ValidateReport& report, std::string_view program_version);

}  // namespace sallyport::jobs
