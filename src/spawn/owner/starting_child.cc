// Built without sanitizers and stack protector, and without libc: this is two processes in one memory.
#include "spawn/owner/starting_child.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <signal.h>

#include "spawn/freestanding/sys.h"
#include "spawn/wire/wire.h"

namespace sallyport::spawn {
namespace {

using helper::sys;

// Gives the child null standard streams, the control socket at its fixed number, and no other descriptor of ours; and a
// session of its own, so that Ctrl-C at the caller's terminal reaches only the caller, which decides.
long take_descriptors(const StartingChild& child) {
  const long null = sys(__NR_openat, long{AT_FDCWD}, "/dev/null", long{O_RDWR}, 0L);
  if (null < 0) return null;
  for (long stream = 0; stream < 3; ++stream) {
    const long placed = helper::duplicate_onto(null, stream);
    if (placed < 0) return placed;
  }
  const long control = helper::duplicate_onto(child.control, wire::kControlFd);
  if (control < 0) return control;
  // The image is closed by the exec itself.
  if (child.image > wire::kControlFd + 1) {
    const long below = sys(__NR_close_range, long{wire::kControlFd} + 1, long{child.image} - 1, 0L);
    if (below < 0) return below;
  }
  return sys(__NR_close_range, long{child.image} + 1, long{0x7fffffff}, 0L);
}

// The capabilities that building a jail needs, inside the new user namespace and nowhere else.
constexpr int kInitCapabilities[] = {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH,  CAP_SETGID,  CAP_SETUID,   CAP_SETPCAP,
                                     CAP_NET_ADMIN,    CAP_NET_BIND_SERVICE, CAP_NET_RAW, CAP_SYS_ADMIN};

// The namespace maps no id yet, so we run as the overflow user there, and its exec keeps only ambient capabilities.
long keep_capabilities() {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct wanted[2] = {};
  for (const int capability : kInitCapabilities) {
    auto& half = wanted[CAP_TO_INDEX(capability)];
    half.inheritable |= CAP_TO_MASK(capability);
    half.effective = half.permitted = half.inheritable;
  }
  const long set = sys(__NR_capset, &header, &wanted[0]);
  if (set < 0) return set;
  for (const int capability : kInitCapabilities) {
    const long raised = sys(__NR_prctl, long{PR_CAP_AMBIENT}, long{PR_CAP_AMBIENT_RAISE}, long{capability}, 0L, 0L);
    if (raised < 0) return raised;
  }
  return 0;
}

void become_helper(void* argument) {
  StartingChild& child = *static_cast<StartingChild*>(argument);
  sys(__NR_setsid);  // fails only for a session leader, which a new process is not
  long result = take_descriptors(child);
  if (result >= 0 && child.in_new_namespaces) result = keep_capabilities();
  child.at_exec = result >= 0;
  char* const no_environment[] = {nullptr};
  if (result >= 0) result = sys(__NR_execveat, long{child.image}, "", child.argv, no_environment, long{AT_EMPTY_PATH});
  child.error = static_cast<int>(-result);
  helper::exit_now(127);
}

}  // namespace

long clone_starting_child(StartingChild& child) {
  const long namespaces = child.in_new_namespaces ? long{CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID} : 0L;
  return helper::sallyport_clone_sharing_memory(&child.stack[sizeof child.stack], become_helper, &child,
                                                long{CLONE_VM | CLONE_VFORK} | namespaces | long{SIGCHLD}, nullptr);
}

}  // namespace sallyport::spawn
