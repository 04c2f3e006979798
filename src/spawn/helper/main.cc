// Where the spawn helper begins: which of its kinds this process is.
#include <linux/prctl.h>
#include <signal.h>
#include <sys/poll.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

// PR_SET_PDEATHSIG does nothing when the parent is already gone, so look once after setting it.
long die_with_parent(int parent_pidfd) {
  const long armed = sys(__NR_prctl, long{PR_SET_PDEATHSIG}, long{SIGKILL}, 0L, 0L, 0L);
  if (armed < 0 || parent_pidfd == kNoPidfd) return armed;
  struct pollfd parent = {parent_pidfd, POLLIN, 0};
  const long gone = sys(__NR_poll, &parent, 1L, 0L);
  return gone > 0 ? -3 : gone;  // ESRCH
}

void default_signals() {
  struct {
    std::uint64_t handler, flags, restorer, mask;
  } const by_default = {};
  // The kernel refuses SIGKILL and SIGSTOP, and what it refuses is as it must be.
  for (long signal_number = 1; signal_number <= 64; ++signal_number) {
    sys(__NR_rt_sigaction, signal_number, &by_default, 0L, 8L);
  }
}

}  // namespace sallyport::spawn::helper

namespace {

std::uint32_t take_number(const char*& text) {
  std::uint32_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + static_cast<std::uint32_t>(*text - '0');
  return number;
}

}  // namespace

// `stack` is what the kernel hands a new program: argc, then argv. With a number, that of a descriptor, we are the init
// inside a wrapper's jail; otherwise a letter says which of wire::HelperKind we are, and numbers follow.
extern "C" [[noreturn]] void helper_main(const long* stack) {
  namespace helper = sallyport::spawn::helper;
  namespace wire = sallyport::spawn::wire;
  if (stack[0] != 2) helper::exit_now(1);
  const char* argument = reinterpret_cast<const char*>(stack[2]);
  if (argument[0] >= '0' && argument[0] <= '9') helper::run_wrapped_init(static_cast<int>(take_number(argument)));
  const auto kind = static_cast<wire::HelperKind>(argument[0]);
  if (argument[0] != '\0') ++argument;
  const std::uint32_t number = take_number(argument);
  helper::sys(__NR_prctl, long{PR_SET_NAME}, "sallyport-spawn", 0L, 0L, 0L);
  if (kind == wire::HelperKind::kOneJail) {
    if (*argument++ != ',') helper::exit_now(1);
    helper::run_lone_init(wire::kControlFd, {number, take_number(argument)});
  }
  helper::default_signals();
  helper::sys(__NR_prctl, long{PR_SET_CHILD_SUBREAPER}, 1L, 0L, 0L, 0L);
  if (kind == wire::HelperKind::kJails) helper::serve_jails(wire::kControlFd, number);
  helper::serve_tools(wire::kControlFd, number);
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
