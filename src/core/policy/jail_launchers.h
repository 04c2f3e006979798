// Programs that only a jail starts and that are no members of the built-in set (C2, C4): the closed table of jails' own launchers.
// A caller cannot name one as its tool in any policy; a jail gets it pinned by the same rules of trust as a tool (ADR 0085).
#pragma once

#include <span>
#include <string_view>

#include "sallyport/allowlist.h"

namespace sallyport {

// Each with the decision record that admitted it, a reason and the role of a wrapper.
[[nodiscard]] std::span<const ToolEntry> jail_launchers();
// Null when there is none of that name.
[[nodiscard]] const ToolEntry* find_jail_launcher(std::string_view name);
// A tool of the built-in set that a jail starts as its launcher, too (ADR 0100): what the jail renders is not the caller's to say.
[[nodiscard]] bool launches_jails_too(std::string_view name);

}  // namespace sallyport
