// The jail that an OCI runtime builds. Taken only by name:
//
//   JailedSubprocessResult result = SALLYPORT_TRY(gate->run(spec, kOciJail, {}));
//
// Errors a caller can act on: ToolMissingError when there is no runc; JailUnavailable with the runtime's message;
// InvalidRequest for a path that is not UTF-8, which a bundle cannot name. The rules: docs/contract.md, C21 and C40.
#pragma once

#include "sallyport/jail_kind.h"
