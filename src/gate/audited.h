// A call with its records around it (C33): the intent before anything happens, the result or the refusal after. The engine knows
// nothing else of the log.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "sallyport/audit.h"
#include "sallyport/gate.h"

namespace sallyport {

using Perform = std::function<Result<JailedSubprocessResult>()>;

// What a call's tool can write, or brings along itself. Who is recorded must not reach the records.
struct LogReach {
  std::filesystem::path repo{};
  std::vector<std::filesystem::path> writable{};
  std::vector<std::filesystem::path> workspaces{};  // the directories that keep them
};
// InvalidRequest("audit") when a log at this place, which need not be there yet, would lie within reach. To be asked before
// anything is made there. What of the reach does not exist, or is the whole host, is refused later, in the call's own words.
[[nodiscard]] Status check_log_place(const std::filesystem::path& log, const LogReach& reach);

// `config` says whether there is a log and whether one must be. InvalidRequest("audit") when the log lies where this call's tool
// could reach it, or is missing and required; AuditFailed when it cannot take the record.
[[nodiscard]] Result<JailedSubprocessResult> run_audited(const GateConfig& config, AuditCall call,
                                                         const Perform& perform);

// What was done and could not be recorded, where the sink lets that be: `subproc.audit.failed`.
void warn_unrecorded(const GateConfig& config, const Error& error);

// A refusal outside any call: the error to report, which is the log's own when the log cannot take it and must. A log within reach
// of the call is left as it is.
[[nodiscard]] Error record_refusal(const GateConfig& config, AuditCall call, const Error& why);

}  // namespace sallyport
