// A child that executes the helper's image. It borrows our memory until then, and this thread waits: the kernel copies
// no page tables, however large we are. posix_spawn(3) does the same with ten times as many system calls.
#pragma once

#include <cstddef>

namespace sallyport::spawn {

struct StartingChild {
  int control = -1;  // both at 4 or above, so that the child does not overwrite them
  int image = -1;
  char* const* argv = nullptr;
  bool in_new_namespaces = false;  // user, mount and pid, in which it can do what a jail's init has to do
  // Why the exec did not happen: an errno, and whether the exec itself failed.
  int error = 0;
  bool at_exec = false;
  alignas(16) std::byte stack[8192];  // not cleared: that would be a call of libc
};

// Returns the child's pid, or a negative errno; the child may leave an errno in `error`. Block every signal first: a
// handler of ours must not run in the child.
long clone_starting_child(StartingChild& child);

}  // namespace sallyport::spawn
