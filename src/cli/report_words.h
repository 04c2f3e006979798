// A job's report keeps hints of the library in its own texts. A verb translates the report once, as soon as it has it: every text
// and document comes from that. What tools and repos say stays as it is.
#pragma once

#include "jobs/lint/lint.h"
#include "jobs/probe/probe.h"
#include "jobs/validate/validate.h"

namespace sallyport::cli {

[[nodiscard]] jobs::LintReport in_options(jobs::LintReport report);
[[nodiscard]] jobs::ProbeReport in_options(jobs::ProbeReport report);
[[nodiscard]] jobs::ValidateReport in_options(jobs::ValidateReport report);

// Build and test have no network, and no option gives them one: their denials come without a hint that names one.
[[nodiscard]] bool can_be_allowed_hosts(jobs::StageId stage);

}  // namespace sallyport::cli
