// One function per verb, each in the file of its name. They return the process's exit code.
#pragma once

#include "cli/command_line.h"
#include "cli/environment.h"

namespace sallyport::cli {

[[nodiscard]] int run_verb(const RunCommand& command, const Environment& environment);
[[nodiscard]] int explain_verb(const ExplainCommand& command, const Environment& environment);
[[nodiscard]] int doctor_verb(const DoctorCommand& command, const Environment& environment);
[[nodiscard]] int allowlist_verb(const AllowlistCommand& command);
[[nodiscard]] int help_verb(const HelpRequested& command);
[[nodiscard]] int version_verb(const VersionRequested& command);

}  // namespace sallyport::cli
