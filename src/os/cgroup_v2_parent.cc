#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/errors.h"
#include "os/cgroup_files.h"
#include "os/file.h"

namespace sallyport {
namespace {

constexpr std::string_view kHint =
    "start this program in a delegated cgroup, e.g. 'systemd-run --user --scope -p Delegate=yes …'";

struct Wanted {
  std::string_view controller;
  std::optional<std::uint64_t> limit;
  Guarantee guarantee;
};

std::vector<Wanted> wanted_controllers(const CgroupLimits& limits) {
  std::vector<Wanted> wanted;
  if (limits.memory_bytes) wanted.push_back({"memory", limits.memory_bytes, Guarantee::kLimitMemory});
  if (limits.pids_max) wanted.push_back({"pids", limits.pids_max, Guarantee::kLimitPids});
  return wanted;
}

// Why no group with these controllers can be made in `directory`; nullopt when one can.
std::optional<Error> obstacle(const std::filesystem::path& directory, const std::vector<Wanted>& wanted, bool is_own) {
  const Result<UniqueFd> fd = open_path(directory, O_RDONLY | O_DIRECTORY);
  if (!fd) return fd.error();
  for (const Wanted& want : wanted) {
    const Result<std::string> enabled = read_control(fd->get(), "cgroup.subtree_control");
    if (!enabled) return guarantee_unavailable(want.guarantee, enabled.error().message, kHint);
    if (has_word(*enabled, want.controller)) continue;
    const Result<std::string> offered = read_control(fd->get(), "cgroup.controllers");
    if (!offered || !has_word(*offered, want.controller)) {
      return guarantee_unavailable(
          want.guarantee, fmt::format("no {} controller in {}/cgroup.controllers", want.controller, directory.native()),
          kHint);
    }
    // Only in our own cgroup: we must not change what an ancestor passes to all its children.
    const Status turned_on =
        is_own ? write_control(fd->get(), "cgroup.subtree_control", fmt::format("+{}", want.controller))
               : Status(fail(system_error("write", "cgroup.subtree_control", EPERM)));
    if (!turned_on) {
      // EBUSY: the no-internal-process rule, we ourselves are in it (cgroup-v2.rst).
      return guarantee_unavailable(want.guarantee,
                                   fmt::format("{} is not in {}/cgroup.subtree_control and cannot be added: {}",
                                               want.controller, directory.native(), turned_on.error().message),
                                   kHint);
    }
  }
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return system_error("create a control group in", directory.native(), errno, kHint);
  }
  return std::nullopt;
}

// Climbing from `directory` to its parent must not bypass a limit that was put on us.
std::optional<Error> tighter_limit(const std::filesystem::path& directory, const CgroupLimits& limits) {
  for (const auto& [file, ours, guarantee] :
       {std::tuple{"memory.max", limits.memory_bytes, Guarantee::kLimitMemory},
        std::tuple{"pids.max",
                   limits.pids_max ? std::optional<std::uint64_t>(*limits.pids_max) : std::optional<std::uint64_t>{},
                   Guarantee::kLimitPids}}) {
    const Result<std::string> text = read_whole_file(directory / file, ByteCount{64});
    if (!text || text->starts_with("max")) continue;  // the root cgroup has no such file
    std::uint64_t theirs = 0;
    std::from_chars(text->data(), text->data() + text->size(), theirs);
    if (!ours || *ours > theirs) {
      return guarantee_unavailable(
          guarantee,
          fmt::format("{}/{} is {}, and a group beside it would escape that", directory.native(), file, theirs), kHint);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::filesystem::path> choose_v2_parent(const CgroupLayout& layout, const CgroupLimits& limits) {
  if (!layout.v2) return fail(guarantee_unavailable(Guarantee::kLimitMemory, "no cgroup v2 tree is visible", kHint));
  const std::vector<Wanted> wanted = wanted_controllers(limits);
  std::optional<Error> first;
  for (std::filesystem::path directory = *layout.v2;; directory = directory.parent_path()) {
    std::optional<Error> problem = obstacle(directory, wanted, directory == *layout.v2);
    if (!problem) return directory;
    if (!first) first = std::move(problem);
    if (directory == layout.v2_mount || !directory.has_relative_path()) return fail(*std::move(first));
    if (std::optional<Error> tighter = tighter_limit(directory, limits)) return fail(*std::move(tighter));
  }
}

}  // namespace sallyport
