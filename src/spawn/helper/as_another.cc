// Root runs a tool over a repo that another user owns. The tool runs as that owner, so that it can read what the owner
// can read, and the owner owns what it leaves behind (ADR 0066).
//
// Root makes the user namespace, so the repo's owner has no rights in it and cannot trace the jail from outside, as the
// owner could trace a jail of its own. Only a process outside with CAP_SETUID can map an id other than its own into it
// (user_namespaces(7)), so the server maps it while the new init waits. Until the jail's root is built, init stays root
// outside: it opens what root chose to show. There it has capabilities only over files of the mapped id.
#include <fcntl.h>
#include <linux/prctl.h>

#include "spawn/freestanding/decimal.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

constexpr Ids kInside = {wire::kInsideId, wire::kInsideId};

long map_ids_of(long pid, Ids another) {
  char process[24] = "/proc/";
  *append_number(process + 6, static_cast<std::uint32_t>(pid)) = '\0';
  return map_ids(process, kInside, another);
}

// Changes the group for good, and the user for files created from now on. A set-id system call keeps the capabilities
// of a process that is not root inside, neither before nor after the call.
long make_files_as_another() {
  const long group = sys(__NR_setresgid, long{kInside.gid}, long{kInside.gid}, long{kInside.gid});
  if (group < 0) return group;
  sys(__NR_setfsuid, long{kInside.uid});
  return sys(__NR_setfsuid, -1L) == long{kInside.uid} ? 0 : -1;  // EPERM
}

// If the pipe is closed without a byte, the ids were not mapped.
void await_map(const int (&mapped)[2]) {
  sys(__NR_close, long{mapped[1]});
  char word = 0;
  long size = 0;
  do {
    size = sys(__NR_read, long{mapped[0]}, &word, 1L);
  } while (size == -4);  // EINTR
  sys(__NR_close, long{mapped[0]});
  if (size != 1) exit_now(1);  // EPERM
  const long changed = make_files_as_another();
  if (changed < 0) exit_now(static_cast<int>(-changed));
}

}  // namespace

long clone_as_another(long namespaces, Ids another) {
  int mapped[2] = {-1, -1};
  const long made = sys(__NR_pipe2, &mapped[0], long{O_CLOEXEC});
  if (made < 0) return made;
  const long pid = clone_copying_memory(namespaces);
  if (pid == 0) {
    await_map(mapped);
    return 0;
  }
  sys(__NR_close, long{mapped[0]});
  long result = pid < 0 ? pid : map_ids_of(pid, another);
  if (result >= 0) result = sys(__NR_write, long{mapped[1]}, "!", 1L);
  sys(__NR_close, long{mapped[1]});
  if (result >= 0) return pid;
  if (pid > 0) sys(__NR_wait4, pid, 0L, 0L, 0L);
  return result;
}

long become_another() { return sys(__NR_setresuid, long{kInside.uid}, long{kInside.uid}, long{kInside.uid}); }

long become_another_in_worker(Ids another) {
  const long groups = sys(__NR_setgroups, 0L, 0L);
  if (groups < 0) return groups;
  const long group = sys(__NR_setresgid, long{another.gid}, long{another.gid}, long{another.gid});
  if (group < 0) return group;
  const long user = sys(__NR_setresuid, long{another.uid}, long{another.uid}, long{another.uid});
  if (user < 0) return user;
  // A change of ids clears the dumpable flag, and without that flag a process may not write its own id maps.
  return sys(__NR_prctl, long{PR_SET_DUMPABLE}, 1L, 0L, 0L, 0L);
}

}  // namespace sallyport::spawn::helper
