// The result of one scanner (C31, C38). A closed set: a scanner that crashed, was cut off or was not understood never
// counts as "no findings".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/report/finding.h"
#include "sallyport/outcome.h"
#include "sallyport/receipt.h"

namespace sallyport::jobs {

// One call through the gate.
struct Invocation {
  std::vector<std::string> argv{};
  std::optional<int> exit_code{};
  std::optional<int> signal{};
  std::chrono::microseconds duration{};
  Receipt receipt{};
};

struct Ran {
  std::vector<Finding> findings{};
  std::vector<InventoryItem> inventory{};
  std::vector<Invocation> invocations{};
};
struct ScannerFailed {
  std::string why{};
  std::string tail{};  // the end of its output, with possible secrets removed
  std::vector<Invocation> invocations{};
};
struct ToolMissing {
  std::string tool{};
  std::string install_hint{};
};
struct NotApplicable {
  std::string why{};
};

using ScannerOutcome =
    std::variant<Ran, ScannerFailed, TimedOut, OomKilled, NetworkDenied, DiskQuotaExceeded, ToolMissing, NotApplicable>;

// "ran", "scanner_failed", "timed_out", "oom_killed", "network_denied", "disk_quota_exceeded", "tool_missing",
// "not_applicable".
[[nodiscard]] std::string_view name_of(const ScannerOutcome& outcome);
// One line for people; empty for Ran.
[[nodiscard]] std::string why_of(const ScannerOutcome& outcome);
// True when the scanner really scanned. Not applicable counts too: there was nothing to scan.
[[nodiscard]] bool is_complete(const ScannerOutcome& outcome);

// SHA-256 over the receipt: short enough for a report; the audit log has the whole receipt.
[[nodiscard]] std::string receipt_digest(const Receipt& receipt);

}  // namespace sallyport::jobs
