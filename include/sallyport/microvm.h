// The jails that are a virtual machine with a kernel of its own. Taken only by name:
//
//   JailedSubprocessResult result = SALLYPORT_TRY(gate->run(spec, kMicrovmJail, {}));
//
// Errors a caller can act on: ToolMissingError when there is no QEMU; JailUnavailable when there is no kernel to boot,
// when /dev/kvm runs no guest, and when the guest hangs or gives up before the tool has started, with its last message;
// JailDied when the machine dies under the tool. The rules: docs/contract.md, C21 and C40.
#pragma once

#include "sallyport/jail_kind.h"
