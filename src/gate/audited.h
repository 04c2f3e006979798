// A call with its records around it (C33): the intent before anything happens, the result or the refusal after. The
// engine knows nothing more about the log.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "sallyport/audit.h"
#include "sallyport/gate.h"

namespace sallyport {

using Perform = std::function<Result<JailedSubprocessResult>()>;

// What a call's tool can write, or brings along itself. The recorded party must not be able to reach the records.
struct LogReach {
  std::filesystem::path repo{};
  std::vector<std::filesystem::path> writable{};
  std::vector<std::filesystem::path> workspaces{};  // the directories that keep them
};
// InvalidRequest("audit") when a log at this place, which need not exist yet, would lie within the tool's reach. Call
// it before making anything there. It ignores parts of the reach that do not exist or are the whole host: the call
// refuses those later with its own message.
[[nodiscard]] Status check_log_place(const std::filesystem::path& log, const LogReach& reach);

// `config` says whether there is a log and whether one must be. InvalidRequest("audit") when the log lies where this call's tool
// could reach it, or is missing and required; AuditFailed when it cannot take the record.
[[nodiscard]] Result<JailedSubprocessResult> run_audited(const GateConfig& config, AuditCall call,
                                                         const Perform& perform);

// Emits `subproc.audit.failed` for something that was done but could not be recorded, where the sink allows that.
void warn_unrecorded(const GateConfig& config, const Error& error);

// Records a refusal outside any call. Returns the error to report: the log's own error when the log must take the
// record and cannot. Writes nothing to a log within the call's reach.
[[nodiscard]] Error record_refusal(const GateConfig& config, AuditCall call, const Error& why);

}  // namespace sallyport
