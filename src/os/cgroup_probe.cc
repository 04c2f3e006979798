#include <fcntl.h>

#include <optional>
#include <set>

#include "os/cgroup.h"
#include "os/cgroup_files.h"
#include "os/file.h"
#include "os/owned_dir.h"

namespace sallyport {
namespace {

constexpr std::uint64_t kProbeMemory = 64ULL << 20;
constexpr std::uint32_t kProbePids = 16;

CgroupCapability try_limits(const CgroupLimits& limits, const CgroupSource& source) {
  Result<RunCgroup> group = RunCgroup::create(limits, source);
  if (!group) return {.available = false, .mechanism = {}, .reason = group.error().message};
  const std::string mechanism(group->mechanism());
  if (const Status removed = group->remove(); !removed) {
    return {.available = false, .mechanism = {}, .reason = removed.error().message};
  }
  return {.available = true, .mechanism = mechanism, .reason = {}};
}

Status remove_stale_group(int parent, int directory, const std::string& name) {
  TRY(kill_group(directory));
  return remove_group(parent, name);
}

}  // namespace

CgroupSupport probe_cgroups(const CgroupSource& source) {
  return {.memory = try_limits({.memory_bytes = kProbeMemory}, source),
          .pids = try_limits({.pids_max = kProbePids}, source)};
}

Result<std::size_t> sweep_stale_cgroups(const CgroupSource& source) {
  const CgroupLayout layout = TRY(read_cgroup_layout(source));
  std::set<std::filesystem::path> parents;
  for (const auto& directory : {layout.v1_pids, layout.v1_memory, layout.v1_cpuacct}) {
    if (directory) parents.insert(*directory);
  }
  if (layout.v2) {
    for (std::filesystem::path directory = *layout.v2;; directory = directory.parent_path()) {
      parents.insert(directory);
      if (directory == layout.v2_mount || !directory.has_relative_path()) break;
    }
  }
  std::size_t removed = 0;
  std::optional<Error> problem;
  for (const std::filesystem::path& parent : parents) {
    const Result<UniqueFd> fd = open_path(parent, O_RDONLY | O_DIRECTORY);
    if (!fd) continue;  // a directory that we cannot list holds nothing of ours
    Result<std::size_t> swept = sweep_owned_dirs(fd->get(), parent.native(), remove_stale_group);
    if (swept) {
      removed += *swept;
    } else if (!problem) {
      problem = std::move(swept).error();
    }
  }
  if (problem) return fail(*std::move(problem));
  return removed;
}

}  // namespace sallyport
