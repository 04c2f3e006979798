// Memory, process and processor limits of one run, by the strongest means the host gives, and by which.
#pragma once

#include <chrono>
#include <cstdint>
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
  bool watch_memory = false;  // nobody but the supervisor keeps that limit

  [[nodiscard]] std::vector<int> procs_fds() const;
  // What the kernel's OOM killer did in this run's own cgroups.
  [[nodiscard]] Result<std::uint64_t> oom_kills() const;
  // Held in socket buffers that the kernel counts apart from the limited memory.
  [[nodiscard]] std::uint64_t socket_memory() const;
  // Used by all of the run's processes together; nullopt when no cgroup counts it.
  [[nodiscard]] std::optional<std::chrono::microseconds> cpu_time() const;
};

// A limit that cannot be had at all is refused. Where no cgroup can be made, memory is watched and the others are kept by an
// rlimit, and the receipt says so, unless the caller listed the guarantee as required: an rlimit binds each process, not the
// run, and a watch sees the run only now and then.
[[nodiscard]] Result<Resources> acquire_resources(const Limits& limits, std::span<const Guarantee> required,
                                                  const LimitsWanted& wanted);

// What acquire_resources would try for, without trying.
[[nodiscard]] std::vector<Established> expected_limits(const Limits& limits);

}  // namespace sallyport
