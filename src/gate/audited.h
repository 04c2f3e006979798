// A call with its records around it (C33): the intent before anything happens, the result or the refusal after. The engine knows
// nothing else of the log.
#pragma once

#include <functional>

#include "sallyport/audit.h"
#include "sallyport/gate.h"

namespace sallyport {

using Perform = std::function<Result<JailedSubprocessResult>()>;

// `config` says whether there is a log and whether one must be. InvalidRequest("audit") when the log lies where this call's tool
// could reach it, or is missing and required; AuditFailed when it cannot take the record.
[[nodiscard]] Result<JailedSubprocessResult> run_audited(const GateConfig& config, AuditCall call,
                                                         const Perform& perform);

// What was done and could not be recorded, where the sink lets that be: `subproc.audit.failed`.
void warn_unrecorded(const GateConfig& config, const Error& error);

// A refusal outside any call: the error to report, which is the log's own when the log cannot take it and must.
[[nodiscard]] Error record_refusal(const GateConfig& config, AuditCall call, const Error& why);

}  // namespace sallyport
