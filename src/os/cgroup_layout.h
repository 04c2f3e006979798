// Reads from /proc where this process is in the host's control groups, v1 and v2. Changes nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport {

// Injectable, so that tests can describe other hosts.
struct CgroupSource {
  std::filesystem::path mountinfo = "/proc/self/mountinfo";
  std::filesystem::path self_cgroup = "/proc/self/cgroup";
};

struct CgroupLayout {
  // Our own cgroup's directory in each hierarchy; unset when the host has none that we can see.
  std::optional<std::filesystem::path> v1_memory;
  std::optional<std::filesystem::path> v1_pids;
  std::optional<std::filesystem::path> v1_cpuacct;
  std::optional<std::filesystem::path> v2;
  std::filesystem::path v2_mount;  // never climb above this
};

// Pure: takes the text of the two files, returns the layout.
[[nodiscard]] CgroupLayout parse_cgroup_layout(std::string_view mountinfo, std::string_view self_cgroup);
[[nodiscard]] Result<CgroupLayout> read_cgroup_layout(const CgroupSource& source = {});

}  // namespace sallyport
