// A new helper process, from nothing but system calls: its child shares our memory until it executes the helper.
#pragma once

#include <cstdint>
#include <optional>

#include "sallyport/plan.h"
#include "spawn/wire/helper_start.h"

namespace sallyport::spawn {

struct NewHelper {
  enum class Step : std::uint8_t { kSocket, kImage, kNamespaces, kExec };

  int control = -1;  // our end of its control socket
  int pid = 0;       // 0: there is none, because of `error` (an errno) at `step`
  int error = 0;
  Step step = Step::kSocket;
};

// `ready`: for the kinds that keep children ready, how many. `as`: whose the tools of a kInits helper are, when not ours.
[[nodiscard]] NewHelper start_helper(wire::HelperKind kind, std::uint32_t ready, const std::optional<UserIds>& as = {});

}  // namespace sallyport::spawn
