// The mounts that this process sees, as /proc/self/mountinfo lists them (proc(5)), and what only they tell: a bind mount gives
// a directory a second name, and no comparison of paths finds out.
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

// Lines that are no mounts are left out.
[[nodiscard]] std::vector<MountRow> parse_mountinfo(std::string_view text);
[[nodiscard]] Result<std::vector<MountRow>> read_mountinfo(const std::filesystem::path& path = "/proc/self/mountinfo");

// The mount on which `path` lies; none when it cannot be known.
[[nodiscard]] std::optional<std::uint64_t> mount_of(const std::filesystem::path& path);

// A path, and the place on a file system that it names.
struct MountPlace {
  std::string name{};
  std::string device{};
  std::string path{};
};

// That of `path`, which lies on the mount `id`, and those of everything that is mounted below it. In a chroot a path may lie on
// a mount that is not listed; it has no place then.
[[nodiscard]] std::vector<MountPlace> places_below(std::span<const MountRow> rows, const std::string& path,
                                                   std::optional<std::uint64_t> id);

// Something that can be reached below both, by a name of each.
struct SecondName {
  std::string by_outer{};
  std::string by_inner{};
};

// The first of `inner` that is also reached below `outer`, but by another path. Both canonical.
[[nodiscard]] std::optional<SecondName> second_name(std::span<const MountPlace> outer,
                                                    std::span<const MountPlace> inner);

}  // namespace sallyport
