// Whether, where and how a verb's calls are recorded (docs/audit.md). On by default, in the user's state directory.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/environment.h"
#include "gate/audited.h"
#include "sallyport/audit.h"
#include "sallyport/event.h"

namespace sallyport::cli {

struct AuditChoice {
  bool off = false;                                  // --no-audit
  std::optional<std::filesystem::path> directory{};  // --audit DIR
  AuditSync sync = AuditSync::kGroup;
  AuditFailure on_failure = AuditFailure::kRefuse;
};

[[nodiscard]] Status set_audit_sync(AuditChoice& choice, std::string_view value);

// $XDG_STATE_HOME/sallyport/audit, else ~/.local/state/sallyport/audit; empty when neither variable names an absolute path.
[[nodiscard]] std::filesystem::path default_audit_directory(const Environment& environment);

// Makes its parent directories, but never a home. Returns why it cannot, or nullopt.
[[nodiscard]] std::optional<std::string> make_default_audit_directory(const Environment& environment);

// Null with --no-audit, and when the default place is unavailable: no home, or one that is missing, not ours or not
// writable. Then it warns; a policy that requires the log then refuses every call. AuditFailed for a log that was
// named, or that exists, and cannot be used. InvalidRequest for a place within `reach`, before anything is made there.
[[nodiscard]] Result<std::unique_ptr<AuditSink>> open_audit(const AuditChoice& choice, const Environment& environment,
                                                            std::string label, const LogReach& reach,
                                                            EventSink& events);

}  // namespace sallyport::cli
