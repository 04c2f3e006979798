// Starts a helper process with system calls alone: the child shares our memory until it executes the helper.
#pragma once

#include <cstdint>
#include <optional>

#include "sallyport/plan.h"
#include "spawn/wire/helper_start.h"

namespace sallyport::spawn {

struct NewHelper {
  enum class Step : std::uint8_t { kSocket, kImage, kNamespaces, kExec };

  int control = -1;  // our end of its control socket
  int pid = 0;       // 0: the start failed with `error` (an errno) at `step`
  int error = 0;
  Step step = Step::kSocket;
};

// `ready`: how many children to keep ready, for kinds that do so. `as`: the user that a kInits helper's tools run as,
// when it is not ours.
[[nodiscard]] NewHelper start_helper(wire::HelperKind kind, std::uint32_t ready, const std::optional<UserIds>& as = {});

}  // namespace sallyport::spawn
