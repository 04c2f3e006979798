#include "os/cgroup_layout.h"

#include <vector>

#include "core/view/paths.h"
#include "os/file.h"

namespace sallyport {
namespace {

constexpr ByteCount kProcCap = mebibytes(4);  // a host with thousands of mounts still fits

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool lists(std::string_view comma_list, std::string_view word) {
  for (const std::string_view part : split(comma_list, ',')) {
    if (part == word) return true;
  }
  return false;
}

bool is_octal(char digit) { return digit >= '0' && digit <= '7'; }

// mountinfo writes space, tab, newline and backslash as \ooo (proc(5)).
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size() && is_octal(text[at + 1]) && is_octal(text[at + 2]) &&
        is_octal(text[at + 3])) {
      plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

struct CgroupMount {
  std::string root;
  std::string point;
  std::string_view type;     // "cgroup" or "cgroup2"
  std::string_view options;  // of the superblock: the controllers of a v1 hierarchy
};

// id parent major:minor root point options [tags…] - type source superoptions
std::optional<CgroupMount> parse_mount(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ' ');
  std::size_t dash = 6;
  while (dash < fields.size() && fields[dash] != "-") ++dash;
  if (dash + 3 >= fields.size()) return std::nullopt;
  const std::string_view type = fields[dash + 1];
  if (type != "cgroup" && type != "cgroup2") return std::nullopt;
  return CgroupMount{
      .root = unescape(fields[3]), .point = unescape(fields[4]), .type = type, .options = fields[dash + 3]};
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
std::optional<std::filesystem::path> visible(const CgroupMount& mount, const std::string& path) {
  if (path.find("/..") != std::string::npos || !is_inside(path, mount.root)) return std::nullopt;
  const std::string below = mount.root == "/" ? path : path.substr(mount.root.size());
  return below.empty() || below == "/" ? std::filesystem::path(mount.point)
                                       : std::filesystem::path(mount.point + below);
}

void take(std::optional<std::filesystem::path>& slot, const CgroupMount& mount, std::string_view self_cgroup,
          std::string_view controller) {
  if (slot || !lists(mount.options, controller)) return;
  if (const std::optional<std::string> path = own_path(self_cgroup, controller)) slot = visible(mount, *path);
}

}  // namespace

CgroupLayout parse_cgroup_layout(std::string_view mountinfo, std::string_view self_cgroup) {
  CgroupLayout layout;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::optional<CgroupMount> mount = parse_mount(line);
    if (!mount) continue;
    if (mount->type == "cgroup") {
      take(layout.v1_memory, *mount, self_cgroup, "memory");
      take(layout.v1_pids, *mount, self_cgroup, "pids");
      take(layout.v1_cpuacct, *mount, self_cgroup, "cpuacct");
    } else if (const std::optional<std::string> path = own_path(self_cgroup, ""); path && !layout.v2) {
      layout.v2 = visible(*mount, *path);
      layout.v2_mount = mount->point;
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
