#include "jobs/report/outcome.h"

#include <fmt/format.h>

#include "sallyport/digest.h"

namespace sallyport::jobs {

std::string_view name_of(const ScannerOutcome& outcome) {
  return std::visit(overloaded{[](const Ran&) { return std::string_view("ran"); },
                               [](const ScannerFailed&) { return std::string_view("scanner_failed"); },
                               [](const TimedOut&) { return std::string_view("timed_out"); },
                               [](const OomKilled&) { return std::string_view("oom_killed"); },
                               [](const NetworkDenied&) { return std::string_view("network_denied"); },
                               [](const DiskQuotaExceeded&) { return std::string_view("disk_quota_exceeded"); },
                               [](const ToolMissing&) { return std::string_view("tool_missing"); },
                               [](const NotApplicable&) { return std::string_view("not_applicable"); }},
                    outcome);
}

std::string why_of(const ScannerOutcome& outcome) {
  return std::visit(
      overloaded{
          [](const Ran&) { return std::string(); }, [](const ScannerFailed& failed) { return failed.why; },
          [](const TimedOut& late) { return fmt::format("killed after {} ms, its limit", late.limit.count()); },
          [](const OomKilled& oom) { return fmt::format("used more than its {} bytes of memory", oom.limit_bytes); },
          [](const NetworkDenied& denied) {
            return fmt::format("was refused the host {}:{}", denied.host, denied.port);
          },
          [](const DiskQuotaExceeded& full) { return fmt::format("filled its scratch of {} bytes", full.quota_bytes); },
          [](const ToolMissing& missing) {
            return fmt::format("{} is not installed; {}", missing.tool, missing.install_hint);
          },
          [](const NotApplicable& nothing) { return nothing.why; }},
      outcome);
}

bool is_complete(const ScannerOutcome& outcome) {
  return std::holds_alternative<Ran>(outcome) || std::holds_alternative<NotApplicable>(outcome);
}

std::string receipt_digest(const Receipt& receipt) {
  const std::string digest = std::visit(overloaded{[](const BinaryIdentity& file) { return file.sha256; },
                                                   [](const ImageFile& file) { return file.digest; }},
                                        receipt.binary);
  std::string text =
      fmt::format("{}\n{}\n{}\n{}\n", receipt.jail.name(), digest, receipt.policy_digest, receipt.plan_digest);
  for (const Established& entry : receipt.established) {
    text += fmt::format("{} {}\n", sallyport::name_of(entry.guarantee), sallyport::name_of(entry.mechanism));
  }
  return sha256_hex(text);
}

}  // namespace sallyport::jobs
