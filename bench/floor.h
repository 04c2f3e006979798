// The least that one could write by hand for the same jail: what the kernel itself asks for it, and the yardstick of the
// benchmarks. No checks, no limits, no receipt, no deadline, no protection of the caller: do not use it for anything else.
#pragma once

#include <string>
#include <vector>

#include "bench/measure.h"

namespace sallyport::bench {

// What stands behind namespaces and mounts: the native jail has both.
enum class Locks { kNone, kSeccomp, kSeccompAndLandlock };

// One user, pid, mount, network, ipc, uts and cgroup namespace, the native jail's mounts, a process 1 that reaps, no
// capabilities, the native jail's seccomp filter or what else `locks` says; then `exe` (a path inside) with the arguments, in `repo`, which is
// read-only. Output goes to two pipes as in run_command. Thread-safe.
Finished run_on_floor(const std::string& exe, const std::vector<std::string>& argv, const std::string& repo,
                      Locks locks = Locks::kSeccomp);

}  // namespace sallyport::bench
