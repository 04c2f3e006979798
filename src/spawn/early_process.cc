// Built without sanitizers and stack protector, and without libc.
#include "spawn/early_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "spawn/helper/sys.h"

namespace sallyport::spawn {

using helper::sys;

bool is_usual_process() {
  for (long stream = 0; stream < 3; ++stream) {
    if (sys(__NR_fcntl, stream, long{F_GETFD}) < 0) return false;
  }
  return sys(__NR_getuid) == sys(__NR_geteuid) && sys(__NR_getgid) == sys(__NR_getegid);
}

long read_short_file(const char* path, char* into, long room) {
  // NONBLOCK: opening a FIFO without a writer must not hang.
  const long fd = sys(__NR_openat, long{AT_FDCWD}, path, long{O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK}, 0L);
  if (fd < 0) return fd;
  struct stat about;  // NOLINT(cppcoreguidelines-pro-type-member-init): the kernel fills it
  const bool regular = sys(__NR_fstat, fd, &about) == 0 && S_ISREG(about.st_mode);
  const long size = regular ? sys(__NR_read, fd, into, room) : -1;
  sys(__NR_close, fd);
  return size < room ? size : -1;
}

void keep_dead_children() {
  struct {
    std::uint64_t handler, flags, restorer, mask;
  } const by_default = {};
  sys(__NR_rt_sigaction, long{SIGCHLD}, &by_default, 0L, 8L);
}

}  // namespace sallyport::spawn
