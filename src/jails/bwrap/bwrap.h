// The bubblewrap jail (C14, C15, C22): the same file system view as the native one, as a bwrap command line.
//
// The command is a pure function of the plan and the view. File contents, bind sources and the seccomp program come as
// inherited descriptors. bwrap turns a source's /proc/self/fd/N back into a path before it mounts it, so a path swapped
// at that moment is followed; therefore our own init, process 1 inside, first compares every such mount with the file
// that was checked and refuses to start the tool when it is another one. It then takes the last lock (Landlock), checks
// that what is executed is what was pinned, and reports the tool's real wait status; bwrap itself folds a signal into
// 128+n, which a tool could forge (C20).
#pragma once

#include <string>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "spawn/wire/launch_spec.h"
#include "spawn/wire/root_ops.h"

namespace sallyport::bwrap {

inline constexpr const char* kJailName = "bwrap";
inline constexpr std::string_view kInitPath = "/.sallyport-init";

// A descriptor bwrap inherits; the i-th one arrives as wire::kFirstPassedFd + i.
struct PassedFd {
  enum class Kind { kBytes, kPath, kFile, kInit, kInnerImage } kind{};
  std::string text{};  // the bytes, or the host path: of what is mounted, or of a file to be read
  bool operator==(const PassedFd&) const = default;
};

struct Command {
  std::vector<std::string> argv{};
  std::vector<PassedFd> passed{};
  std::uint32_t cuts_network_at = 0;  // of a run without hosts: where in argv its --unshare-net is
};

struct Inputs {
  std::vector<std::string> argv{};  // the tool's, with an interpreter's prefix already in it
  BinaryIdentity exe{};             // what is executed: the tool or its interpreter
  std::vector<ViewEntry> view{};
  // Which file a bind's source was when it was checked; system paths need none.
  spawn::IdentityOf identity_of{};
};

[[nodiscard]] Command render(const Plan& plan, const Inputs& inputs);

// What our init inside bwrap does: the same last steps as in the native jail.
[[nodiscard]] spawn::LaunchSpec render_inner(const Plan& plan, const Inputs& inputs);

}  // namespace sallyport::bwrap
