#include "os/cgroup_layout.h"

#include <vector>

#include "core/text/split.h"
#include "core/view/paths.h"
#include "os/file.h"
#include "os/mountinfo.h"

namespace sallyport {
namespace {

constexpr ByteCount kProcCap = mebibytes(4);  // a host with thousands of mounts still fits

bool lists(std::string_view comma_list, std::string_view word) {
  for (const std::string_view part : split(comma_list, ',')) {
    if (part == word) return true;
  }
  return false;
}

// Our path in the hierarchy that has `controller`; an empty name means v2, whose line has an empty list.
std::optional<std::string> own_path(std::string_view self_cgroup, std::string_view controller) {
  for (const std::string_view line : split(self_cgroup, '\n')) {
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool matches = controller.empty() ? line.starts_with("0::") : lists(controllers, controller);
    if (matches) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

// A bind mount or a cgroup namespace shows only the part of the hierarchy beneath the mount's root.
std::optional<std::filesystem::path> visible(const MountRow& mount, const std::string& path) {
  if (path.find("/..") != std::string::npos || !is_inside(path, mount.root)) return std::nullopt;
  const std::string below = mount.root == "/" ? path : path.substr(mount.root.size());
  return below.empty() || below == "/" ? std::filesystem::path(mount.point)
                                       : std::filesystem::path(mount.point + below);
}

void take(std::optional<std::filesystem::path>& slot, const MountRow& mount, std::string_view self_cgroup,
          std::string_view controller) {
  if (slot || !lists(mount.options, controller)) return;
  if (const std::optional<std::string> path = own_path(self_cgroup, controller)) slot = visible(mount, *path);
}

}  // namespace

CgroupLayout parse_cgroup_layout(std::string_view mountinfo, std::string_view self_cgroup) {
  CgroupLayout layout;
  for (const MountRow& mount : parse_mountinfo(mountinfo)) {
    if (mount.type == "cgroup") {
      take(layout.v1_memory, mount, self_cgroup, "memory");
      take(layout.v1_pids, mount, self_cgroup, "pids");
      take(layout.v1_cpuacct, mount, self_cgroup, "cpuacct");
    } else if (mount.type == "cgroup2" && !layout.v2) {
      const std::optional<std::string> path = own_path(self_cgroup, "");
      if (!path) continue;
      layout.v2 = visible(mount, *path);
      layout.v2_mount = mount.point;
    }
  }
  return layout;
}

Result<CgroupLayout> read_cgroup_layout(const CgroupSource& source) {
  const std::string mountinfo = TRY(read_whole_file(source.mountinfo, kProcCap));
  const std::string self_cgroup = TRY(read_whole_file(source.self_cgroup, kProcCap));
  return parse_cgroup_layout(mountinfo, self_cgroup);
}

}  // namespace sallyport
