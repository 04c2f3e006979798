// A control group for one run: one interface over cgroup v1 (a hierarchy per controller) and v2 (one tree).
//
//   RunCgroup group = TRY(RunCgroup::create({.memory_bytes = 512 << 20, .pids_max = 128}));
//   // in the child, before exec: write "0" to each of group.procs_fds()
//   // afterwards:                TRY(group.oom_kills()) > 0 means the kernel killed in this group
//
// The group lies beneath our own cgroup, so our limits also bound the run. Under v2 a cgroup with processes cannot give
// controllers to its children; then we use a sibling of ours, but only when that does not escape from a limit tighter
// than the run's own. We never move the caller's processes. If a limit is unavailable, the error is
// GuaranteeUnavailable with the reason; no limit is silently dropped.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/cgroup_layout.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

struct CgroupLimits {
  std::optional<std::uint64_t> memory_bytes{};  // memory and swap together
  std::optional<std::uint32_t> pids_max{};      // processes and threads
  bool account_cpu = false;                     // cpu_time() of the whole tree, also of processes already reaped
};

enum class CgroupVersion { kV1, kV2 };

// "cgroup.v1", "cgroup.v2": the receipt's mechanism.
[[nodiscard]] std::string_view mechanism_name(CgroupVersion version);

class RunCgroup {
 public:
  [[nodiscard]] static Result<RunCgroup> create(const CgroupLimits& limits, const CgroupSource& source = {});

  RunCgroup(RunCgroup&&) noexcept = default;
  RunCgroup& operator=(RunCgroup&& other) noexcept;
  RunCgroup(const RunCgroup&) = delete;
  RunCgroup& operator=(const RunCgroup&) = delete;
  ~RunCgroup();  // kills what is left inside and removes the group

  // O_WRONLY and CLOEXEC, one per hierarchy; borrowed. A process joins by writing "0" to every one of them.
  [[nodiscard]] std::vector<int> procs_fds() const;

  // Processes of this group that the kernel's OOM killer ended. 0 when memory is not limited.
  [[nodiscard]] Result<std::uint64_t> oom_kills() const;
  // Bytes of the whole group, if the kernel counts them apart from the limited memory (v1); else 0.
  [[nodiscard]] Result<std::uint64_t> socket_memory() const;
  [[nodiscard]] Result<std::chrono::microseconds> cpu_time() const;

  [[nodiscard]] CgroupVersion version() const { return version_; }
  [[nodiscard]] std::string_view mechanism() const { return mechanism_name(version_); }

  // SIGKILL to every process inside: at once with v2's cgroup.kill (Linux 5.14), otherwise by walking cgroup.procs
  // until none is left, with forks forbidden if the pids controller is there.
  [[nodiscard]] Status kill() const;
  // Idempotent; waits a moment for processes that are still dying.
  [[nodiscard]] Status remove();

 private:
  struct Member {             // one directory in one hierarchy
    std::string controllers;  // "memory", "pids", "cpuacct", "unified"
    UniqueFd parent;
    UniqueFd directory;  // flocked: shows that the owner is alive
    UniqueFd procs;
    std::string name;
  };

  explicit RunCgroup(CgroupVersion version) : version_(version) {}
  [[nodiscard]] Status add(const std::filesystem::path& parent, std::string_view controllers);
  [[nodiscard]] Status apply_v1(const CgroupLimits& limits, const CgroupLayout& layout);
  [[nodiscard]] Status apply_v2(const CgroupLimits& limits, const CgroupLayout& layout);
  [[nodiscard]] const Member* member(std::string_view controllers) const;

  CgroupVersion version_;
  bool limits_memory_ = false;
  std::vector<Member> members_;
};

// Probe by doing: makes a group with the limit, checks it, removes it.
struct CgroupCapability {
  bool available = false;
  std::string mechanism;  // "cgroup.v1" | "cgroup.v2", empty when not available
  std::string reason;     // why not: names the file or directory to check
};

struct CgroupSupport {
  CgroupCapability memory;
  CgroupCapability pids;
};

[[nodiscard]] CgroupSupport probe_cgroups(const CgroupSource& source = {});

// Removes the groups of killed owners, and kills what still runs inside. Returns how many it removed.
[[nodiscard]] Result<std::size_t> sweep_stale_cgroups(const CgroupSource& source = {});

}  // namespace sallyport
