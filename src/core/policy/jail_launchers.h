// The closed table of jails' own launchers: programs that only a jail starts and that are not in the built-in set (C2,
// C4). No policy lets a caller use one as its tool; a jail gets it pinned by the same rules of trust as a tool (ADR
// 0085).
#pragma once

#include <span>
#include <string_view>

#include "sallyport/allowlist.h"

namespace sallyport {

// Each with the decision record that admitted it, a reason and the role of a wrapper.
[[nodiscard]] std::span<const ToolEntry> jail_launchers();
// Null for an unknown name.
[[nodiscard]] const ToolEntry* find_jail_launcher(std::string_view name);
// True for a tool of the built-in set that a jail also starts as its launcher (ADR 0100); the jail, not the caller,
// writes that command.
[[nodiscard]] bool launches_jails_too(std::string_view name);

}  // namespace sallyport
