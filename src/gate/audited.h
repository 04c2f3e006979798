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
[[nodiscard]] Result<JailedSubprocessResult> run_audited(const GateConfig& config, const AuditCall& call,
                                                         const Perform& perform);

}  // namespace sallyport
