#include "sallyport/error.h"

#include "sallyport/outcome.h"

namespace sallyport {

ErrorDetail::ErrorDetail() = default;
ErrorDetail::ErrorDetail(const ErrorDetail& other) = default;
ErrorDetail::ErrorDetail(ErrorDetail&& other) noexcept = default;
ErrorDetail& ErrorDetail::operator=(const ErrorDetail& other) = default;
ErrorDetail& ErrorDetail::operator=(ErrorDetail&& other) noexcept = default;
ErrorDetail::~ErrorDetail() = default;

std::string_view name_of(ExceededLimit limit) {
  switch (limit) {
    case ExceededLimit::kMemory:
      return outcome_name(OomKilled{});
    case ExceededLimit::kNetwork:
      return outcome_name(NetworkDenied{});
    case ExceededLimit::kDisk:
      break;
  }
  return outcome_name(DiskQuotaExceeded{});
}

std::string_view error_kind(const Error& error) {
  using std::string_view;
  return std::visit(overloaded{
                        [](const DisallowedSubprocessError&) -> string_view { return "disallowed_subprocess"; },
                        [](const InvalidProbeName&) -> string_view { return "invalid_probe_name"; },
                        [](const InvalidRequest&) -> string_view { return "invalid_request"; },
                        [](const PolicyError&) -> string_view { return "policy_error"; },
                        [](const ToolMissingError&) -> string_view { return "tool_missing"; },
                        [](const UntrustedToolError&) -> string_view { return "untrusted_tool"; },
                        [](const ToolNotRunnable&) -> string_view { return "tool_not_runnable"; },
                        [](const ProbeTimeoutError&) -> string_view { return "probe_timeout"; },
                        [](const CancelledError&) -> string_view { return "cancelled"; },
                        [](const LimitExceededError&) -> string_view { return "limit_exceeded"; },
                        [](const GuaranteeUnavailable&) -> string_view { return "guarantee_unavailable"; },
                        [](const JailUnavailable&) -> string_view { return "jail_unavailable"; },
                        [](const SetupFailed&) -> string_view { return "setup_failed"; },
                        [](const JailDied&) -> string_view { return "jail_died"; },
                        [](const AuditFailed&) -> string_view { return "audit_failed"; },
                        [](const SystemError&) -> string_view { return "system_error"; },
                    },
                    error.detail);
}

}  // namespace sallyport
