#include "cli/exit_code.h"

#include <signal.h>

#include <variant>

namespace sallyport::cli {

int exit_code_of(const Outcome& outcome, int stop_signal) {
  return std::visit(overloaded{
                        [](const Completed& completed) {
                          return std::visit(
                              overloaded{[](ExitCode code) { return code.value; },
                                         [](Signal signal) { return exit_code_of_signal(signal.number); }},
                              completed.fate);
                        },
                        [](const TimedOut&) { return kExitTimedOut; },
                        [](const OomKilled&) { return kExitOutOfMemory; },
                        [](const NetworkDenied&) { return kExitRefused; },
                        [](const DiskQuotaExceeded&) { return kExitRefused; },
                        [&](const Cancelled&) { return exit_code_of_signal(stop_signal); },
                    },
                    outcome);
}

int exit_code_of(const Error& error) {
  return std::visit(overloaded{
                        [](const ToolMissingError&) { return kExitToolMissing; },
                        [](const ToolNotRunnable&) { return kExitNotRunnable; },
                        [](const ProbeTimeoutError&) { return kExitTimedOut; },
                        [](const CancelledError&) { return exit_code_of_signal(SIGINT); },
                        [](const auto&) { return kExitRefused; },
                    },
                    error.detail);
}

}  // namespace sallyport::cli
