// Advice after a run that failed, where the reason is likely something the jail does on purpose. Only for people: no
// verdict, exit code or recorded outcome depends on a tool's output (C20).
#pragma once

#include <string>
#include <vector>

#include "cli/call_options.h"
#include "sallyport/jail.h"

namespace sallyport::cli {

[[nodiscard]] std::vector<std::string> hints_after(const CallOptions& options, const JailedSubprocessResult& result);

}  // namespace sallyport::cli
