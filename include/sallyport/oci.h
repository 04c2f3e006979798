// The jail that an OCI runtime builds. Used only by name: `gate->run(spec, kOciJail, {})`.
//
// Errors a caller can act on: ToolMissingError when there is no runc; JailUnavailable with the runtime's message;
// InvalidRequest for a path that is not UTF-8, which a bundle cannot name.
#pragma once

#include "sallyport/plan.h"

namespace sallyport {

inline constexpr JailKind kOciJail{"oci"};        // built by runc
inline constexpr JailKind kGvisorJail{"gvisor"};  // built by runsc: the tool runs on its own kernel

}  // namespace sallyport
