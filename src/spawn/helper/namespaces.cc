// The namespaces that depend on no request. Making them is half of what a jail costs, so its init does it before it waits.
#include <fcntl.h>
#include <linux/sched.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

long write_file(const char* path, const char* text, std::size_t size) {
  const long fd = sys(__NR_openat, long{AT_FDCWD}, path, long{O_WRONLY | O_CLOEXEC}, 0L);
  if (fd < 0) return fd;
  const long written = sys(__NR_write, fd, text, static_cast<long>(size));
  sys(__NR_close, fd);
  return written;
}

// "inside outside 1": exactly one id is mapped, the one mapping an unprivileged process may write itself.
long write_id_map(const char* path, std::uint32_t inside, std::uint32_t outside) {
  char text[32];
  char* end = append_number(text, inside);
  *end++ = ' ';
  end = append_number(end, outside);
  *end++ = ' ';
  *end++ = '1';
  return write_file(path, text, static_cast<std::size_t>(end - text));
}

// Asked before entering the namespace: inside, nobody is mapped yet.
Ids own_ids() { return {static_cast<std::uint32_t>(sys(__NR_geteuid)), static_cast<std::uint32_t>(sys(__NR_getegid))}; }

long map_user(Ids inside, Ids outside) {
  const long denied = write_file("/proc/self/setgroups", "deny", 4);
  if (denied < 0) return denied;
  const long user = write_id_map("/proc/self/uid_map", inside.uid, outside.uid);
  if (user < 0) return user;
  return write_id_map("/proc/self/gid_map", inside.gid, outside.gid);
}

}  // namespace

void make_namespaces(long more, Ids outside, MadeAhead& made) {
  made.unshared = sys(__NR_unshare, more | long{CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS});
  if (made.unshared < 0) return;
  made.mapped = map_user({wire::kInsideId, wire::kInsideId}, outside);
  made.loopback = loopback_up();
  made.hostname = sys(__NR_sethostname, "sallyport", 9L);
}

bool make_network_namespace(Steps& steps) {
  const Ids ids = own_ids();
  return steps.ok(Stage::kClone, sys(__NR_unshare, long{CLONE_NEWUSER | CLONE_NEWNET})) &&
         steps.ok(Stage::kUserMap, map_user(ids, ids)) && steps.ok(Stage::kLoopback, loopback_up());
}

}  // namespace sallyport::spawn::helper
