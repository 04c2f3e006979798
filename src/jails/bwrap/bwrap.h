// The bubblewrap jail (C14, C15, C22): the same file system view as the native one, as a bwrap command line.
//
// The command is a pure function of the plan and the view. File contents, bind sources and the seccomp program come as
// inherited descriptors. bwrap turns a source's /proc/self/fd/N back into a path before it mounts it, so it follows a
// path swapped at that moment. Therefore our own init, process 1 inside, first compares every such mount with the file
// that was checked, and refuses to start the tool when they differ. It then takes the last lock (Landlock), checks that
// the executed file is the pinned one, and reports the tool's real wait status; bwrap itself folds a signal into 128+n,
// which a tool could forge (C20).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "spawn/wire/launch_spec.h"
#include "spawn/wire/root_ops.h"

namespace sallyport::bwrap {

// A descriptor that bwrap inherits; the i-th one gets the number wire::kFirstPassedFd + i.
struct PassedFd {
  enum class Kind { kBytes, kPath, kFile, kInit, kInnerImage } kind{};
  std::string text{};  // the bytes, or the host path of a bind's source or of a file to read
  bool operator==(const PassedFd&) const = default;
};

struct Command {
  std::vector<std::string> argv{};
  std::vector<PassedFd> passed{};
  std::optional<spawn::NetworkWord> with_network{};  // for a run without hosts: --share-net, for --unshare-net
};

struct Inputs {
  std::vector<std::string> argv{};  // the tool's, with an interpreter's prefix already in it
  BinaryIdentity exe{};             // the executed file: the tool or its interpreter
  std::vector<ViewEntry> view{};
  // The identity that a bind's source had when it was checked; system paths need none.
  spawn::IdentityOf identity_of{};
};

[[nodiscard]] Command render(const Plan& plan, const Inputs& inputs);

// What our init inside bwrap does: the same last steps as in the native jail.
[[nodiscard]] spawn::LaunchSpec render_inner(const Plan& plan, const Inputs& inputs);

}  // namespace sallyport::bwrap
