// A child that executes the helper's image. It borrows our memory until then, and this thread waits: no page tables are
// copied, whatever our size. What posix_spawn(3) does, in a tenth of the system calls.
#pragma once

#include <cstddef>

namespace sallyport::spawn {

struct StartingChild {
  int control = -1;  // both at 4 or above, so that they are not trodden on
  int image = -1;
  char* const* argv = nullptr;
  bool in_new_namespaces = false;  // user, mount and pid, in which it can do what an init of a jail has to do
  // Why there was no exec: an errno, and whether it was the exec itself that failed.
  int error = 0;
  bool at_exec = false;
  alignas(16) std::byte stack[8192];  // not cleared: that would be a call of libc
};

// Its pid, or a negative errno; the child may have left one in `error`. Every signal must be blocked: a handler of ours
// must not run in it.
long clone_starting_child(StartingChild& child);

}  // namespace sallyport::spawn
