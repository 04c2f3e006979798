// `sallyport run` begins its jail before anything else, libc included: making a jail's namespaces takes longer than
// everything the CLI has to find out, and on the way to main() libc alone takes half a millisecond in a virtual machine
// (docs/adr/0016). The jail knows nothing of the call yet; it waits to be told, and ends with us if it never is.
//
// Only for a call that has a jail of ours, of a tool that is in the set (C2). Every other line goes the usual way, and
// one that goes wrong later is told there.
#pragma once

#include "spawn/begin_helper.h"

namespace sallyport::cli {

// What was begun before main(), once; pid 0 when nothing was.
[[nodiscard]] spawn::BegunHelper take_early_jail();

}  // namespace sallyport::cli
