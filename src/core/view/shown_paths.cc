#include "core/view/shown_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/errors.h"
#include "core/view/paths.h"

namespace sallyport {
namespace {

// Shallow paths first, so that a mount never hides one made before it.
template <class Path>
std::size_t depth_of(const Path& path) {
  return static_cast<std::size_t>(std::ranges::count(path, '/'));
}

// The access of the innermost entry around `path`; of two entries for one path the later, which is the stricter.
RepoAccess innermost_access(const std::vector<Shown>& shown, const std::string& path) {
  const Shown* innermost = nullptr;
  for (const Shown& one : shown) {
    if (!is_inside(path, one.path.path)) continue;
    if (innermost == nullptr || one.path.path.size() >= innermost->path.path.size()) innermost = &one;
  }
  return innermost == nullptr ? RepoAccess::kReadOnly : innermost->access;
}

// A read-only path inside a writable one is only as fixed as its parents: the run could rename a parent and put another
// file in its place. A mount point cannot be renamed (EBUSY), so we make each parent in between a mount point.
void pin_parents(std::vector<Shown>& shown) {
  std::vector<Shown> pins;
  for (const Shown& top : shown) {
    if (top.access != RepoAccess::kWritable || !top.path.is_directory) continue;
    for (const Shown& fixed : shown) {
      const bool stays = fixed.access == RepoAccess::kReadOnly || fixed.pinned;
      if (!stays || !is_inside(fixed.path.path, top.path.path)) continue;
      std::filesystem::path parent = std::filesystem::path(fixed.path.path).parent_path();
      for (; parent != top.path.path && is_inside(parent, top.path.path); parent = parent.parent_path()) {
        const auto is_parent = [&](const Shown& one) { return one.path.path == parent; };
        // A pin is writable: it must not open what an entry further in has closed.
        if (innermost_access(shown, parent) == RepoAccess::kReadOnly) continue;
        if (std::ranges::none_of(shown, is_parent) && std::ranges::none_of(pins, is_parent)) {
          pins.push_back({.path = {parent, true}, .access = RepoAccess::kWritable});
        }
      }
    }
  }
  shown.insert(shown.end(), pins.begin(), pins.end());
}

}  // namespace

std::vector<HostPath> by_depth(std::vector<HostPath> paths) {
  std::ranges::stable_sort(paths, {}, [](const HostPath& path) { return depth_of(path.path); });
  return paths;
}

std::vector<Shown> shown_paths(const ViewInputs& inputs) {
  std::vector<Shown> shown = {{.path = {inputs.repo, true}, .access = inputs.repo_access}};
  for (const PrivateLayer& layer : inputs.layers) {
    if (layer.over == inputs.repo) {
      shown.front().access = RepoAccess::kWritable;
      shown.front().layer = &layer;
    } else {
      shown.push_back({.path = {layer.over, true}, .access = RepoAccess::kWritable, .layer = &layer});
    }
  }
  for (const HostPath& path : inputs.read_write) shown.push_back({.path = path, .access = RepoAccess::kWritable});
  for (const HostPath& path : inputs.pinned) {
    shown.push_back({.path = path, .access = RepoAccess::kWritable, .pinned = true});
  }
  for (const HostPath& path : inputs.read_only) shown.push_back({.path = path, .access = RepoAccess::kReadOnly});
  pin_parents(shown);
  std::ranges::stable_sort(shown, {}, [](const Shown& one) { return depth_of(one.path.path); });
  return shown;
}

Status check_shown(std::string_view field, const HostPath& path, const std::vector<Shown>& shown) {
  if (std::ranges::any_of(shown, [&](const Shown& one) { return path.path == one.path.path; })) return {};
  return check_below_shown(field, path, shown);
}

Status check_below_shown(std::string_view field, const HostPath& path, const std::vector<Shown>& shown) {
  const bool is_below = std::ranges::any_of(
      shown, [&](const Shown& one) { return path.path != one.path.path && is_inside(path.path, one.path.path); });
  if (is_below) return {};
  return fail(
      invalid_request(field, fmt::format("{} does not lie below anything the jail shows", path.path),
                      "name a path inside the repo, or below a path of `extra_read_only` or `extra_read_write`"));
}

void forbid_programs_below(const std::vector<HostPath>& places, std::vector<Shown>& shown) {
  for (const HostPath& place : places) {
    if (std::ranges::any_of(shown, [&](const Shown& one) { return one.path.path == place.path; })) continue;
    shown.push_back({.path = place, .access = innermost_access(shown, place.path)});
  }
  std::ranges::stable_sort(shown, {}, [](const Shown& one) { return depth_of(one.path.path); });
  for (Shown& one : shown) {
    one.no_exec =
        std::ranges::any_of(places, [&](const HostPath& place) { return is_inside(one.path.path, place.path); });
  }
}

}  // namespace sallyport
