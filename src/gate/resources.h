// Memory, process and processor limits of one run, by the strongest means that the host offers; records which means.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "os/cgroup.h"
#include "sallyport/jail_port.h"
#include "sallyport/limits.h"
#include "sallyport/receipt.h"
#include "sallyport/result.h"

namespace sallyport {

inline constexpr std::string_view kNoCgroupHint =
    "run where a cgroup can be made: as root, or under a delegated cgroup (systemd-run --user --scope -p Delegate=yes)";

struct Resources {
  std::vector<RunCgroup> cgroups;
  std::vector<ResourceLimit> rlimits;
  std::vector<Established> established;
  bool watch_memory = false;  // only the supervisor enforces that limit

  [[nodiscard]] std::vector<int> procs_fds() const;
  // How many processes the kernel's OOM killer killed in this run's own cgroups.
  [[nodiscard]] Result<std::uint64_t> oom_kills() const;
  // Bytes in socket buffers that the kernel counts apart from the limited memory.
  [[nodiscard]] std::uint64_t socket_memory() const;
  // Processor time of all the run's processes together; nullopt when no cgroup counts it.
  [[nodiscard]] std::optional<std::chrono::microseconds> cpu_time() const;
};

// What acquire_resources needs of a host. Tests describe other hosts, so that each way is tested on every one.
struct LimitingHost {
  std::function<Result<RunCgroup>(const CgroupLimits&)> make_cgroup{};
  uid_t user = 0;  // this process's
};
[[nodiscard]] LimitingHost this_limiting_host();

// Refuses a limit that cannot be enforced at all. Where no cgroup can be made, the supervisor watches memory and
// rlimits enforce the others, and the receipt says so. If the caller requires the guarantee, it refuses instead: an
// rlimit binds each process, not the run, and a watch measures the run only from time to time.
[[nodiscard]] Result<Resources> acquire_resources(const Limits& limits, std::span<const Guarantee> required,
                                                  const LimitsWanted& wanted,
                                                  const LimitingHost& host = this_limiting_host());

// Whether a mechanism that acquire_resources established is weaker than a cgroup. The gate warns the caller of such a one.
[[nodiscard]] bool is_weaker_than_cgroup(Mechanism mechanism);

// What acquire_resources would try for, without trying.
[[nodiscard]] std::vector<Established> expected_limits(const Limits& limits);

}  // namespace sallyport
