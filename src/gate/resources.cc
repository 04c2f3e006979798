#include "gate/resources.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "core/errors.h"
#include "os/posix/cpu_rlimit.h"

namespace sallyport {
namespace {

Mechanism mechanism_of(const RunCgroup& cgroup) {
  return cgroup.version() == CgroupVersion::kV1 ? Mechanism::kCgroupV1 : Mechanism::kCgroupV2;
}

bool is_required(std::span<const Guarantee> required, Guarantee guarantee) {
  return std::ranges::find(required, guarantee) != required.end();
}

// The layer below names the guarantee itself if it knows which one is lost.
Error refused(Guarantee guarantee, Error cause) {
  const auto* named = cause.as<GuaranteeUnavailable>();
  if (named == nullptr || named->guarantee != guarantee) {
    cause = guarantee_unavailable(guarantee, cause.message, cause.hint);
  }
  if (cause.hint.empty()) cause.hint = kNoCgroupHint;
  return cause;
}

void add_cgroup(Resources& resources, RunCgroup cgroup, std::span<const Guarantee> guarantees) {
  for (const Guarantee guarantee : guarantees) {
    resources.established.push_back({guarantee, mechanism_of(cgroup)});
  }
  resources.cgroups.push_back(std::move(cgroup));
}

Status limit_memory(const Limits& limits, std::span<const Guarantee> required, const LimitingHost& host,
                    Resources& resources) {
  Result<RunCgroup> cgroup = host.make_cgroup({.memory_bytes = count(*limits.memory)});
  if (cgroup) {
    add_cgroup(resources, *std::move(cgroup), std::array{Guarantee::kLimitMemory});
    return {};
  }
  if (is_required(required, Guarantee::kLimitMemory)) return fail(refused(Guarantee::kLimitMemory, cgroup.error()));
  // No RLIMIT_AS: node, java and go reserve address space that they never use.
  resources.watch_memory = true;
  resources.established.push_back({Guarantee::kLimitMemory, Mechanism::kWatch});
  return {};
}

Status limit_pids(const Limits& limits, std::span<const Guarantee> required, const LimitsWanted& wanted,
                  const LimitingHost& host, Resources& resources) {
  Result<RunCgroup> cgroup = host.make_cgroup({.pids_max = *limits.pids + wanted.own_processes});
  if (cgroup) {
    add_cgroup(resources, *std::move(cgroup), std::array{Guarantee::kLimitPids});
    return {};
  }
  // RLIMIT_NPROC counts per user namespace (Linux 5.14), so in a jail it counts only that jail's processes; the kernel
  // exempts uid 0.
  const bool counts_this_run = wanted.counted_apart && host.user != 0;
  if (is_required(required, Guarantee::kLimitPids) || !counts_this_run) {
    return fail(refused(Guarantee::kLimitPids, cgroup.error()));
  }
  const std::uint64_t with_init = std::uint64_t{*limits.pids} + 1;
  resources.rlimits.push_back({RLIMIT_NPROC, with_init, with_init});
  resources.established.push_back({Guarantee::kLimitPids, Mechanism::kRlimit});
  return {};
}

// Puts all limits in one group where that works (v2 has only that; v1 makes one directory per controller).
bool limit_together(const Limits& limits, const LimitsWanted& wanted, const LimitingHost& host, Resources& resources) {
  std::vector<Guarantee> together;
  CgroupLimits group{.account_cpu = limits.cpu.has_value()};
  if (limits.memory) {
    group.memory_bytes = count(*limits.memory);
    together.push_back(Guarantee::kLimitMemory);
  }
  if (limits.pids) {
    group.pids_max = *limits.pids + wanted.own_processes;
    together.push_back(Guarantee::kLimitPids);
  }
  if (limits.cpu) together.push_back(Guarantee::kLimitCpu);
  if (together.size() < 2) return false;
  Result<RunCgroup> cgroup = host.make_cgroup(group);
  if (!cgroup) return false;
  add_cgroup(resources, *std::move(cgroup), together);
  return true;
}

// A cgroup counts processor time; the supervisor acts on the count.
Status limit_cpu(std::span<const Guarantee> required, const LimitingHost& host, Resources& resources) {
  // A v2 group made for another limit counts it too, and joining a second group would leave the first.
  if (resources.cpu_time()) {
    resources.established.push_back({Guarantee::kLimitCpu, mechanism_of(resources.cgroups.back())});
    return {};
  }
  Result<RunCgroup> cgroup = host.make_cgroup({.account_cpu = true});
  if (cgroup) {
    add_cgroup(resources, *std::move(cgroup), std::array{Guarantee::kLimitCpu});
    return {};
  }
  if (is_required(required, Guarantee::kLimitCpu)) return fail(refused(Guarantee::kLimitCpu, cgroup.error()));
  resources.established.push_back({Guarantee::kLimitCpu, Mechanism::kRlimitPerProcess});
  return {};
}

}  // namespace

std::vector<int> Resources::procs_fds() const {
  std::vector<int> fds;
  for (const RunCgroup& cgroup : cgroups) {
    const std::vector<int> more = cgroup.procs_fds();
    fds.insert(fds.end(), more.begin(), more.end());
  }
  return fds;
}

Result<std::uint64_t> Resources::oom_kills() const {
  std::uint64_t kills = 0;
  for (const RunCgroup& cgroup : cgroups) kills += TRY(cgroup.oom_kills());
  return kills;
}

std::uint64_t Resources::socket_memory() const {
  std::uint64_t bytes = 0;
  for (const RunCgroup& cgroup : cgroups) {
    // A counter that can no longer be read counts as exhausted.
    bytes = std::max(bytes, cgroup.socket_memory().value_or(std::numeric_limits<std::uint64_t>::max()));
  }
  return bytes;
}

std::optional<std::chrono::microseconds> Resources::cpu_time() const {
  for (const RunCgroup& cgroup : cgroups) {
    if (const Result<std::chrono::microseconds> used = cgroup.cpu_time()) return *used;
  }
  return std::nullopt;
}

LimitingHost this_limiting_host() {
  return {.make_cgroup = [](const CgroupLimits& limits) { return RunCgroup::create(limits); }, .user = ::geteuid()};
}

Result<Resources> acquire_resources(const Limits& limits, std::span<const Guarantee> required,
                                    const LimitsWanted& wanted, const LimitingHost& host) {
  Resources resources;
  // The kernel would write a core file outside every limit, wherever core_pattern says. One byte instead of none: a
  // core_pattern that is a pipe starts a handler, as root and outside, at every limit but exactly this one (core(5)).
  resources.rlimits.push_back({RLIMIT_CORE, 1, 1});
  if (limits.cpu) resources.rlimits.push_back(cpu_rlimit(*limits.cpu));
  if (limit_together(limits, wanted, host, resources)) return resources;
  if (limits.memory) TRY(limit_memory(limits, required, host, resources));
  if (limits.pids) TRY(limit_pids(limits, required, wanted, host, resources));
  if (limits.cpu) TRY(limit_cpu(required, host, resources));
  return resources;
}

bool is_weaker_than_cgroup(Mechanism mechanism) {
  return mechanism == Mechanism::kWatch || mechanism == Mechanism::kRlimit || mechanism == Mechanism::kRlimitPerProcess;
}

std::vector<Established> expected_limits(const Limits& limits) {
  std::vector<Established> expected;
  if (limits.cpu) expected.push_back({Guarantee::kLimitCpu, Mechanism::kCgroupOrRlimitPerProcess});
  if (limits.memory) expected.push_back({Guarantee::kLimitMemory, Mechanism::kCgroupOrWatch});
  if (limits.pids) expected.push_back({Guarantee::kLimitPids, Mechanism::kCgroupOrRlimit});
  return expected;
}

}  // namespace sallyport
