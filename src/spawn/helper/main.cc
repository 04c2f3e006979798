// Where the spawn helper starts: which of its kinds this process is.
#include <linux/prctl.h>
#include <signal.h>

#include "spawn/freestanding/poll.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

// PR_SET_PDEATHSIG does nothing when the parent is already gone, so check once after setting it.
long die_with_parent(int parent_pidfd) {
  const long armed = sys(__NR_prctl, long{PR_SET_PDEATHSIG}, long{SIGKILL}, 0L, 0L, 0L);
  if (armed < 0 || parent_pidfd == kNoPidfd) return armed;
  struct pollfd parent = {parent_pidfd, POLLIN, 0};
  const long gone = poll_now(&parent, 1);
  return gone > 0 ? -3 : gone;  // ESRCH
}

void default_signals() {
  struct {
    std::uint64_t handler, flags, restorer, mask;
  } const by_default = {};
  // The kernel refuses SIGKILL and SIGSTOP, which always have their default action.
  for (long signal_number = 1; signal_number <= 64; ++signal_number) {
    sys(__NR_rt_sigaction, signal_number, &by_default, 0L, 8L);
  }
}

}  // namespace sallyport::spawn::helper

// `stack` is what the kernel hands a new program: argc, then argv.
extern "C" [[noreturn]] void helper_main(const long* stack) {
  namespace helper = sallyport::spawn::helper;
  namespace wire = sallyport::spawn::wire;
  wire::HelperStart start;
  if (stack[0] != 2 || !wire::read_helper_argument(reinterpret_cast<const char*>(stack[2]), start)) helper::exit_now(1);
  // For people who read the host's process table. An init inside a wrapper or a machine keeps the name of its file.
  const bool on_the_host = start.kind == wire::HelperKind::kWorkers || start.kind == wire::HelperKind::kInits ||
                           start.kind == wire::HelperKind::kOneRun;
  if (on_the_host) helper::sys(__NR_prctl, long{PR_SET_NAME}, "sallyport-spawn", 0L, 0L, 0L);
  if (start.kind != wire::HelperKind::kWorkers && start.kind != wire::HelperKind::kInits) {
    helper::run_init({.kind = start.kind,
                      .outside = {start.uid, start.gid},
                      .control = wire::kControlFd,
                      .wrapped_image_fd = static_cast<int>(start.image_fd)});
  }
  helper::default_signals();
  helper::sys(__NR_prctl, long{PR_SET_CHILD_SUBREAPER}, 1L, 0L, 0L, 0L);
  helper::serve(start, wire::kControlFd);
}

// The compiler may call these for plain assignments even without a libc.
extern "C" void* memset(void* to, int value, std::size_t size) {
  auto* bytes = static_cast<volatile unsigned char*>(to);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(value);
  return to;
}
extern "C" void* memcpy(void* to, const void* from, std::size_t size) {
  auto* target = static_cast<volatile unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  for (std::size_t i = 0; i < size; ++i) target[i] = source[i];
  return to;
}
