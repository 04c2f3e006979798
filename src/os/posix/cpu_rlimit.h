// RLIMIT_CPU, which counts whole seconds of each process.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>

#include "sallyport/jail_port.h"

namespace sallyport {

// SIGXCPU first, so that the fate says what happened; SIGKILL a second later for a tool that ignores it.
[[nodiscard]] inline ResourceLimit cpu_rlimit(std::chrono::milliseconds cpu) {
  const auto seconds = static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(cpu).count());
  return {.resource = RLIMIT_CPU, .soft = seconds, .hard = seconds + 1};
}

}  // namespace sallyport
