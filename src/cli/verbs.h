// One function per verb, each in the file of its name. They return the process's exit code.
#pragma once

#include <memory>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "gate/one_run.h"

namespace sallyport::cli {

// `begun` is this run's jail, if there is one already.
[[nodiscard]] int run_verb(const RunCommand& command, const Environment& environment, std::unique_ptr<BegunJail> begun);
[[nodiscard]] int explain_verb(const ExplainCommand& command, const Environment& environment);
[[nodiscard]] int doctor_verb(const DoctorCommand& command, const Environment& environment);
[[nodiscard]] int allowlist_verb(const AllowlistCommand& command);
[[nodiscard]] int help_verb(const HelpRequested& command);
[[nodiscard]] int version_verb(const VersionRequested& command);

}  // namespace sallyport::cli
