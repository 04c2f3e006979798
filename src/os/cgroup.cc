#include "os/cgroup.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "os/cgroup_files.h"
#include "os/file.h"
#include "os/owned_dir.h"

namespace sallyport {
namespace {

constexpr std::string_view kNoController =
    "mount the cgroup hierarchy, or start this program in a delegated cgroup v2 subtree";

// For a plain user, a directory that we may not write to is the common case: name the guarantee that the run loses.
Error unavailable(Guarantee guarantee, const Error& cause) {
  return guarantee_unavailable(guarantee, cause.message, cause.hint);
}

bool offers(const CgroupLayout& layout, std::string_view controller) {
  if (!layout.v2) return false;
  const Result<std::string> text = read_whole_file(*layout.v2 / "cgroup.controllers", ByteCount{4096});
  return text && has_word(*text, controller);
}

// A controller lives in one version at a time. Chooses v2 if it has all the wanted controllers, else v1.
CgroupVersion choose_version(const CgroupLimits& limits, const CgroupLayout& layout) {
  const bool v1_memory = limits.memory_bytes && layout.v1_memory && !offers(layout, "memory");
  const bool v1_pids = limits.pids_max && layout.v1_pids && !offers(layout, "pids");
  if (v1_memory || v1_pids) return CgroupVersion::kV1;
  if (layout.v2) return CgroupVersion::kV2;
  return CgroupVersion::kV1;
}

}  // namespace

std::string_view mechanism_name(CgroupVersion version) {
  return version == CgroupVersion::kV1 ? "cgroup.v1" : "cgroup.v2";
}

Result<RunCgroup> RunCgroup::create(const CgroupLimits& limits, const CgroupSource& source) {
  const CgroupLayout layout = TRY(read_cgroup_layout(source));
  RunCgroup group(choose_version(limits, layout));
  group.limits_memory_ = limits.memory_bytes.has_value();
  if (group.version_ == CgroupVersion::kV1) {
    TRY(group.apply_v1(limits, layout));
  } else {
    TRY(group.apply_v2(limits, layout));
  }
  return group;
}

Status RunCgroup::add(const std::filesystem::path& parent, std::string_view controllers) {
  Member made;
  made.controllers = controllers;
  made.parent = TRY(open_path(parent, O_RDONLY | O_DIRECTORY));
  OwnedDir owned = TRY(make_owned_dir(made.parent.get(), 0755, parent.native()));
  made.directory = std::move(owned.lock);
  made.name = std::move(owned.name);
  members_.push_back(std::move(made));  // from here on our destructor removes it
  Member& member = members_.back();
  member.procs = TRY(open_path_at(member.directory.get(), "cgroup.procs", O_WRONLY));
  return {};
}

Status RunCgroup::apply_v1(const CgroupLimits& limits, const CgroupLayout& layout) {
  const auto join = [&](const std::optional<std::filesystem::path>& parent, std::string_view controller,
                        Guarantee guarantee) -> Result<int> {
    if (!parent) {
      return fail(guarantee_unavailable(
          guarantee, "no cgroup hierarchy with the " + std::string(controller) + " controller is visible",
          kNoController));
    }
    // Controllers mounted together (cpu,cpuacct) share a directory; ours never do, so each gets one member.
    if (Status added = add(*parent, controller); !added) return fail(unavailable(guarantee, added.error()));
    return members_.back().directory.get();
  };
  if (limits.memory_bytes) {
    const int directory = TRY(join(layout.v1_memory, "memory", Guarantee::kLimitMemory));
    if (Status set = set_memory_limit(directory, CgroupVersion::kV1, *limits.memory_bytes); !set) {
      return fail(unavailable(Guarantee::kLimitMemory, set.error()));
    }
  }
  if (limits.pids_max) {
    const int directory = TRY(join(layout.v1_pids, "pids", Guarantee::kLimitPids));
    if (Status set = set_pids_limit(directory, *limits.pids_max); !set) {
      return fail(unavailable(Guarantee::kLimitPids, set.error()));
    }
  }
  if (limits.account_cpu) (void)TRY(join(layout.v1_cpuacct, "cpuacct", Guarantee::kLimitCpu));
  return {};
}

Status RunCgroup::apply_v2(const CgroupLimits& limits, const CgroupLayout& layout) {
  const Guarantee main = limits.memory_bytes ? Guarantee::kLimitMemory
                         : limits.pids_max   ? Guarantee::kLimitPids
                                             : Guarantee::kLimitCpu;
  const Result<std::filesystem::path> parent = choose_v2_parent(layout, limits);
  if (!parent && parent.error().as<GuaranteeUnavailable>() != nullptr) return fail(parent.error());
  if (!parent) return fail(unavailable(main, parent.error()));
  if (Status added = add(*parent, "unified"); !added) return fail(unavailable(main, added.error()));
  const int directory = members_.back().directory.get();
  if (limits.memory_bytes) {
    if (Status set = set_memory_limit(directory, CgroupVersion::kV2, *limits.memory_bytes); !set) {
      return fail(unavailable(Guarantee::kLimitMemory, set.error()));
    }
  }
  if (limits.pids_max) {
    if (Status set = set_pids_limit(directory, *limits.pids_max); !set) {
      return fail(unavailable(Guarantee::kLimitPids, set.error()));
    }
  }
  return {};
}

RunCgroup& RunCgroup::operator=(RunCgroup&& other) noexcept {
  if (this != &other) {
    static_cast<void>(remove());
    version_ = other.version_;
    limits_memory_ = other.limits_memory_;
    members_ = std::exchange(other.members_, {});
  }
  return *this;
}

RunCgroup::~RunCgroup() { static_cast<void>(remove()); }

const RunCgroup::Member* RunCgroup::member(std::string_view controllers) const {
  for (const Member& candidate : members_) {
    if (candidate.controllers == controllers || candidate.controllers == "unified") return &candidate;
  }
  return nullptr;
}

std::vector<int> RunCgroup::procs_fds() const {
  std::vector<int> fds;
  for (const Member& each : members_) fds.push_back(each.procs.get());
  return fds;
}

Result<std::uint64_t> RunCgroup::oom_kills() const {
  const Member* const memory = member("memory");
  if (memory == nullptr || !limits_memory_) return 0;
  return read_oom_kills(memory->directory.get(), version_);
}

Result<std::uint64_t> RunCgroup::socket_memory() const {
  const Member* const memory = member("memory");
  if (memory == nullptr || !limits_memory_) return 0;
  return read_socket_memory(memory->directory.get(), version_);
}

Result<std::chrono::microseconds> RunCgroup::cpu_time() const {
  const Member* const cpu = member("cpuacct");
  if (cpu == nullptr) return fail(invalid_request("limits", "processor time is not accounted", "set account_cpu"));
  return read_cpu_time(cpu->directory.get(), version_);
}

Status RunCgroup::kill() const {
  // Kill by pids first: there we can forbid forks before we walk the members.
  if (const Member* const pids = member("pids")) TRY(kill_group(pids->directory.get()));
  for (const Member& each : members_) TRY(kill_group(each.directory.get()));
  return {};
}

Status RunCgroup::remove() {
  if (members_.empty()) return {};
  TRY(kill());
  while (!members_.empty()) {
    TRY(remove_group(members_.back().parent.get(), members_.back().name));
    members_.pop_back();
  }
  return {};
}

}  // namespace sallyport
