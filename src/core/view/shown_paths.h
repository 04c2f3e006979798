// The caller's paths of a view, each with how it is shown, in the order in which they are mounted.
#pragma once

#include <string_view>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/result.h"

namespace sallyport {

// One path of the host that is shown where it is, and below /work when it lies in the repo.
struct Shown {
  HostPath path;
  RepoAccess access = RepoAccess::kReadOnly;
  bool pinned = false;                  // must keep its name
  bool no_exec = false;                 // nothing can be executed from there
  const PrivateLayer* layer = nullptr;  // shown in this version
};

// Of two wishes for one path the stricter one is mounted last.
[[nodiscard]] std::vector<Shown> shown_paths(const ViewInputs& inputs);

// A path that is to be restricted must be one of them, or lie below one.
[[nodiscard]] Status check_shown(std::string_view field, const HostPath& path, const std::vector<Shown>& shown);
// Hidden is only what lies below: who wants nothing of a path does not show it.
[[nodiscard]] Status check_below_shown(std::string_view field, const HostPath& path, const std::vector<Shown>& shown);

// A mount of its own for each such path, and no program from any mount below it: what is protected further in is mounted
// after it, as before.
void forbid_programs_below(const std::vector<HostPath>& places, std::vector<Shown>& shown);

// Shallow paths first, so that a mount never hides one made before it.
[[nodiscard]] std::vector<HostPath> by_depth(std::vector<HostPath> paths);

}  // namespace sallyport
