// The namespaces that depend on no request. Making them is half of a jail's cost, so its init makes them before it
// waits.
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>

#include "spawn/freestanding/decimal.h"
#include "spawn/helper/run.h"
#include "spawn/helper/write_text.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

// "inside outside 1": exactly one id is mapped, the one mapping an unprivileged process may write itself.
long write_id_map(const char* path, std::uint32_t inside, std::uint32_t outside) {
  char text[32];
  char* end = append_number(text, inside);
  *end++ = ' ';
  end = append_number(end, outside);
  *end++ = ' ';
  *end++ = '1';
  return write_text(long{AT_FDCWD}, path, text, static_cast<std::size_t>(end - text));
}

// Call before entering the namespace: inside, no id is mapped yet.
Ids own_ids() { return {static_cast<std::uint32_t>(sys(__NR_geteuid)), static_cast<std::uint32_t>(sys(__NR_getegid))}; }

long map_user(Ids inside, Ids outside) { return map_ids("/proc/self", inside, outside); }

// "process" + "/name" in `path`.
const char* file_of(const char* process, const char* name, char (&path)[48]) {
  char* at = &path[0];
  while (*process != '\0') *at++ = *process++;
  while (*name != '\0') *at++ = *name++;
  *at = '\0';
  return &path[0];
}

}  // namespace

long map_ids(const char* process, Ids inside, Ids outside) {
  char path[48];
  const long denied = write_text(long{AT_FDCWD}, file_of(process, "/setgroups", path), "deny", 4);
  if (denied < 0) return denied;
  const long user = write_id_map(file_of(process, "/uid_map", path), inside.uid, outside.uid);
  if (user < 0) return user;
  return write_id_map(file_of(process, "/gid_map", path), inside.gid, outside.gid);
}

void make_namespaces(long more, const Ids* outside, MadeAhead& made) {
  made.unshared = sys(__NR_unshare, more | long{CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS});
  if (made.unshared < 0) return;
  if (outside != nullptr) made.mapped = map_user({wire::kInsideId, wire::kInsideId}, *outside);
  made.loopback = loopback_up();
  made.hostname = sys(__NR_sethostname, "sallyport", 9L);
}

bool make_mount_namespace(Steps& steps) {
  // Without a new user namespace, root keeps its rights over every user's files; so first try without one.
  long made = sys(__NR_unshare, long{CLONE_NEWNS});
  if (made == -1) {  // EPERM
    const Ids ids = own_ids();
    made = sys(__NR_unshare, long{CLONE_NEWUSER | CLONE_NEWNS});
    if (made >= 0 && !steps.ok(Stage::kUserMap, map_user(ids, ids))) return false;
  }
  return steps.ok(Stage::kClone, made) &&
         steps.ok(Stage::kPrivateMounts, sys(__NR_mount, 0L, "/", 0L, long{MS_REC} | long{MS_PRIVATE}, 0L));
}

// With mount(2): a host without mount_setattr(2) can still have a wrapper's jail.
long make_devices_read_only() {
  constexpr const char* kDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"};
  for (const char* path : kDevices) {
    const long bound = sys(__NR_mount, path, path, 0L, long{MS_BIND}, 0L);
    if (bound == -2) continue;  // ENOENT: no such device here, nothing to guard
    if (bound < 0) return bound;
    constexpr long kGuarded = long{MS_REMOUNT} | long{MS_BIND} | long{MS_RDONLY} | long{MS_NOSUID} | long{MS_NOEXEC};
    const long guarded = sys(__NR_mount, 0L, path, 0L, kGuarded, 0L);
    if (guarded < 0) return guarded;
  }
  return 0;
}

long make_cgroups_read_only() {
  struct mount_attr read_only = {};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  const long made =
      sys(__NR_mount_setattr, long{AT_FDCWD}, "/sys/fs/cgroup", long{AT_RECURSIVE}, &read_only, long{sizeof read_only});
  const bool none = made == -2 || made == -20 || made == -22;  // ENOENT, ENOTDIR, EINVAL: no cgroups are mounted there
  return none ? 0 : made;
}

long make_user_namespace(int proc) {
  const long made = sys(__NR_unshare, long{CLONE_NEWUSER});
  if (made < 0) return made;
  // The container's own /proc is read-only already.
  char self[32] = "/proc/self/fd/";
  char* end = append_number(self + 14, static_cast<std::uint32_t>(proc));
  for (const char* at = "/self"; *at != '\0'; ++at) *end++ = *at;
  *end = '\0';
  return map_ids(self, {wire::kInsideId, wire::kInsideId}, {0, 0});
}

bool make_network_namespace(Steps& steps) {
  const Ids ids = own_ids();
  return steps.ok(Stage::kClone, sys(__NR_unshare, long{CLONE_NEWUSER | CLONE_NEWNET})) &&
         steps.ok(Stage::kUserMap, map_user(ids, ids)) && steps.ok(Stage::kLoopback, loopback_up());
}

}  // namespace sallyport::spawn::helper
