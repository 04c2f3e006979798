// Built without sanitizers and stack protector, and without libc: this is two processes in one memory.
#include "spawn/starting_child.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>

#include "spawn/helper/sys.h"
#include "spawn/wire.h"

namespace sallyport::spawn {
namespace {

using helper::sys;

// Null standard streams, the control socket at its fixed place, nothing else of ours; and a session of its own, so that
// Ctrl-C at the caller's terminal reaches the caller, who decides.
long take_descriptors(const StartingChild& child) {
  const long null = sys(__NR_openat, long{AT_FDCWD}, "/dev/null", long{O_RDWR}, 0L);
  if (null < 0) return null;
  for (long stream = 0; stream < 3; ++stream) {
    const long placed = sys(__NR_dup2, null, stream);
    if (placed < 0) return placed;
  }
  const long control = sys(__NR_dup2, long{child.control}, long{wire::kControlFd});
  if (control < 0) return control;
  // The image is closed by the exec itself.
  if (child.image > wire::kControlFd + 1) {
    const long below = sys(__NR_close_range, long{wire::kControlFd} + 1, long{child.image} - 1, 0L);
    if (below < 0) return below;
  }
  return sys(__NR_close_range, long{child.image} + 1, long{0x7fffffff}, 0L);
}

[[noreturn]] void become_helper(StartingChild& child) {
  sys(__NR_setsid);  // fails only for who leads a session already, which a new process does not
  long result = take_descriptors(child);
  char* const no_environment[] = {nullptr};
  if (result >= 0) result = sys(__NR_execveat, long{child.image}, "", child.argv, no_environment, long{AT_EMPTY_PATH});
  child.error = static_cast<int>(-result);
  helper::exit_now(127);
}

}  // namespace

long clone_starting_child(StartingChild& child) {
  struct clone_args how = {};
  how.flags = CLONE_VM | CLONE_VFORK;
  how.exit_signal = SIGCHLD;
  how.stack = reinterpret_cast<std::uint64_t>(&child.stack[0]);
  how.stack_size = sizeof child.stack;
  long result = __NR_clone3;
  // In the child the stack pointer is another, so nothing may be expected there but what is in registers.
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "mov %[child], %%rdi\n\t"
      "call *%[entry]\n\t"
      "hlt\n"
      "1:"
      : "+a"(result)
      : "D"(&how), "S"(sizeof how), [child] "r"(&child), [entry] "r"(&become_helper)
      : "rcx", "r11", "memory", "cc");
  return result;
}

}  // namespace sallyport::spawn
