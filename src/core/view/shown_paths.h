// The caller's paths of a view, each with how it is shown, in the order in which they are mounted.
#pragma once

#include <string_view>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/result.h"

namespace sallyport {

// One path of the host, shown at its own path, and below /work when it lies in the repo.
struct Shown {
  HostPath path;
  RepoAccess access = RepoAccess::kReadOnly;
  bool pinned = false;                  // must keep its name
  bool no_exec = false;                 // nothing can be executed from there
  const PrivateLayer* layer = nullptr;  // the private layer that is shown instead
};

// Of two entries for one path the stricter one is mounted last.
[[nodiscard]] std::vector<Shown> shown_paths(const ViewInputs& inputs);

// A path that is to be restricted must be one of them, or lie below one.
[[nodiscard]] Status check_shown(std::string_view field, const HostPath& path, const std::vector<Shown>& shown);
// Refuses to hide a shown path itself, only what lies below: to hide all of a path, the caller does not show it.
[[nodiscard]] Status check_below_shown(std::string_view field, const HostPath& path, const std::vector<Shown>& shown);

// Gives each such path its own mount, and forbids programs on every mount below it; what is protected further in is
// still mounted after it.
void forbid_programs_below(const std::vector<HostPath>& places, std::vector<Shown>& shown);

// Shallow paths first, so that a mount never hides one made before it.
[[nodiscard]] std::vector<HostPath> by_depth(std::vector<HostPath> paths);

}  // namespace sallyport
