// System calls without a libc. The helper links nothing: no allocator, no stdio, no locale, no thread-local storage, so
// there is nothing in it that could be in a half-locked state after clone, and forking it copies a handful of pages.
// Each function returns what the kernel returns: a value, or a negative errno.
//
// Code for one processor is in a folder with its name: architecture.h, legacy_calls.h, sys6.h, clone.S, start.S.
// Everywhere else we use only calls that every processor has (asm-generic/unistd.h): dup3, ppoll and epoll_pwait, not
// dup2, poll and epoll_wait.
#pragma once

#include <asm/unistd.h>

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include "spawn/freestanding/x86_64/architecture.h"
#include "spawn/freestanding/x86_64/legacy_calls.h"
#include "spawn/freestanding/x86_64/sys6.h"
#else
#error \
    "TODO(port): add src/spawn/freestanding/PROCESSOR with architecture.h, legacy_calls.h, sys6.h, clone.S and start.S"
#endif

namespace sallyport::spawn::helper {

inline long as_word(long value) { return value; }
inline long as_word(const void* pointer) { return reinterpret_cast<long>(pointer); }

template <class... Args>
long sys(long number, Args... args) {
  const long words[6] = {as_word(args)...};
  return sys6(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

// Like dup2(2): `from` may be `to`, which dup3(2) refuses.
inline long duplicate_onto(long from, long to) { return from == to ? to : sys(__NR_dup3, from, to, 0L); }

// Starts a child with a copy of our memory, as fork(2) does; `flags` name new namespaces. Not clone3(2): we need
// nothing that only it can do, and Docker's default filter answers it with ENOSYS because a filter cannot read its
// flags.
inline long clone_copying_memory(long flags) {
  constexpr long kChildEnded = 17;  // SIGCHLD
  return sys(__NR_clone, flags | kChildEnded, 0L, 0L, 0L, 0L);
}

// clone(2) with `flags`, CLONE_VM among them: runs `entry(argument)` on `stack_top` in a child that borrows our memory until
// it execs or exits. Costs no page-table copy. Returns the child's pid or a negative errno. With CLONE_VFORK we are
// suspended until then; with CLONE_CHILD_CLEARTID the kernel then sets `*cleared` to 0 and wakes whichever thread waits
// for it.
extern "C" long sallyport_clone_sharing_memory(void* stack_top, void (*entry)(void*), void* argument, long flags,
                                               unsigned* cleared);

[[noreturn]] inline void exit_now(int code) {
  for (;;) sys(__NR_exit_group, static_cast<long>(code));
}

}  // namespace sallyport::spawn::helper
