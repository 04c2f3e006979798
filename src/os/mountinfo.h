// The mounts that this process sees, as /proc/self/mountinfo lists them (proc(5)), and what only they show: a bind
// mount gives a directory a second name, which no comparison of paths can detect.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport {

struct MountRow {
  std::uint64_t id = 0;
  std::string device{};   // "major:minor"
  std::string root{};     // which part of the file system is mounted
  std::string point{};    // where
  std::string type{};     // of the file system
  std::string options{};  // likewise
};

// Skips lines that are no mounts.
[[nodiscard]] std::vector<MountRow> parse_mountinfo(std::string_view text);
[[nodiscard]] Result<std::vector<MountRow>> read_mountinfo(const std::filesystem::path& path = "/proc/self/mountinfo");

// The mount on which `path` lies; nullopt when that cannot be determined.
[[nodiscard]] std::optional<std::uint64_t> mount_of(const std::filesystem::path& path);

// A path, and the place on a file system that the path names.
struct MountPlace {
  std::string name{};
  std::string device{};
  std::string path{};
};

// The place of `path`, which lies on the mount `id`, and the places of everything mounted below it. In a chroot a path
// may lie on a mount that is not listed; then it has no place.
[[nodiscard]] std::vector<MountPlace> places_below(std::span<const MountRow> rows, const std::string& path,
                                                   std::optional<std::uint64_t> id);

// Something that is reachable below both, under a different name in each.
struct SecondName {
  std::string by_outer{};
  std::string by_inner{};
};

// The first of `inner` that is also reachable below `outer`, but by another path. Both canonical.
[[nodiscard]] std::optional<SecondName> second_name(std::span<const MountPlace> outer,
                                                    std::span<const MountPlace> inner);

}  // namespace sallyport
