// System calls without a libc. The helper links nothing: no allocator, no stdio, no locale, no thread-local storage, so
// there is nothing in it that could be in a half-locked state after clone, and forking it copies a handful of pages.
// Each function returns what the kernel returns: a value, or a negative errno.
#pragma once

#include <asm/unistd.h>
#include <cstddef>
#include <cstdint>

namespace sallyport::spawn::helper {

#if defined(__x86_64__)
inline long sys6(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
#else
#error "TODO(port): the spawn helper knows only x86-64; add sys6, clone_sharing_memory and _start for this processor"
#endif

inline long as_word(long value) { return value; }
inline long as_word(const void* pointer) { return reinterpret_cast<long>(pointer); }

template <class... Args>
long sys(long number, Args... args) {
  const long words[6] = {as_word(args)...};
  return sys6(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

// clone(2) with `flags`, CLONE_VM among them: runs `entry(argument)` on `stack_top` in a child that borrows our memory until
// it execs or exits. Costs no page-table copy. Returns the child's pid or a negative errno. With CLONE_VFORK we are
// suspended meanwhile; with CLONE_CHILD_CLEARTID the kernel sets `*cleared` to 0 then and wakes who waits for that.
long clone_sharing_memory(void* stack_top, void (*entry)(void*), void* argument, long flags, unsigned* cleared);

[[noreturn]] inline void exit_now(int code) {
  for (;;) sys(__NR_exit_group, static_cast<long>(code));
}

// Writes `value` in decimal, without a terminator; the end of what was written.
inline char* append_number(char* out, std::uint32_t value) {
  char digits[10];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  while (count > 0) *out++ = digits[--count];
  return out;
}

}  // namespace sallyport::spawn::helper
