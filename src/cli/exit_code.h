// The exit codes of docs/cli.md. A usage error is a refusal: one number for both.
#pragma once

#include "sallyport/error.h"
#include "sallyport/outcome.h"

namespace sallyport::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitTimedOut = 124;
inline constexpr int kExitRefused = 125;
inline constexpr int kExitNotRunnable = 126;
inline constexpr int kExitToolMissing = 127;
inline constexpr int kExitOutOfMemory = 137;

[[nodiscard]] constexpr int exit_code_of_signal(int number) { return 128 + number; }

// `stop_signal`: what made us cancel; a closed stdout counts as SIGPIPE.
[[nodiscard]] int exit_code_of(const Outcome& outcome, int stop_signal);
[[nodiscard]] int exit_code_of(const Error& error);

}  // namespace sallyport::cli
