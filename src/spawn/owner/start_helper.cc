// Built without sanitizers, stack protector and libc: part of it runs in the child that borrows our memory.
#include "spawn/owner/start_helper.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "spawn/freestanding/sys.h"
#include "spawn/owner/helper_image.h"
#include "spawn/owner/starting_child.h"
#include "spawn/wire/wire.h"

namespace sallyport::spawn {
namespace {

using helper::sys;
using Step = NewHelper::Step;

constexpr long kInvalid = -22;     // EINVAL
constexpr long kInterrupted = -4;  // EINTR
constexpr long kIoError = -5;      // EIO

// linux/memfd.h and linux/fcntl.h of Linux 6.3; Debian 12's headers are older.
constexpr long kMfdExec = 0x0010;
constexpr long kSealExec = 0x0020;

void close_fd(long fd) {
  if (fd >= 0) sys(__NR_close, fd);
}

long write_image(long fd) {
  const char* rest = &sallyport_helper_image_begin[0];
  while (rest != &sallyport_helper_image_end[0]) {
    const long written = sys(__NR_write, fd, rest, &sallyport_helper_image_end[0] - rest);
    if (written > 0) {
      rest += written;
    } else if (written != kInterrupted) {
      return written < 0 ? written : kIoError;
    }
  }
  return 0;
}

long seal(long fd) {
  constexpr long kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  const long sealed = sys(__NR_fcntl, fd, long{F_ADD_SEALS}, kSeals | kSealExec);
  return sealed == kInvalid ? sys(__NR_fcntl, fd, long{F_ADD_SEALS}, kSeals) : sealed;
}

// The helper's program as a sealed file.
long make_image() {
  constexpr long kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  long fd = sys(__NR_memfd_create, "sallyport-spawn", kFlags | kMfdExec);
  // Kernels before 6.3 do not know that flag, and do not need it.
  if (fd == kInvalid) fd = sys(__NR_memfd_create, "sallyport-spawn", kFlags);
  if (fd < 0) return fd;
  long result = sys(__NR_fchmod, fd, 0500L);
  if (result >= 0) result = write_image(fd);
  if (result >= 0) result = seal(fd);
  if (result >= 0) return fd;
  close_fd(fd);
  return result;
}

// Moves `fd` above the numbers that the child fills.
long above_fixed_places(long fd) {
  if (fd < 0 || fd > wire::kControlFd) return fd;
  const long moved = sys(__NR_fcntl, fd, long{F_DUPFD_CLOEXEC}, long{wire::kControlFd} + 1);
  close_fd(fd);
  return moved;
}

// A root caller's extra groups would still open files inside a jail whose init can no longer drop them. Changes this
// thread's groups only; libc's function would change every thread's. A plain user may not drop its groups, since a
// group can also serve to deny access.
class NoExtraGroups {
 public:
  NoExtraGroups() {
    if (sys(__NR_geteuid) != 0) return;
    const long room = sys(__NR_getgroups, 0L, 0L);
    if (room <= 0) return;
    size_ = room * static_cast<long>(sizeof(std::uint32_t));
    groups_ = sys(__NR_mmap, 0L, size_, long{PROT_READ | PROT_WRITE}, long{MAP_PRIVATE | MAP_ANONYMOUS}, -1L, 0L);
    if (groups_ < 0) return;
    count_ = sys(__NR_getgroups, room, groups_);
    dropped_ = count_ > 0 && sys(__NR_setgroups, 0L, 0L) == 0;
  }
  ~NoExtraGroups() {
    if (dropped_) sys(__NR_setgroups, count_, groups_);
    if (groups_ > 0) sys(__NR_munmap, groups_, size_);
  }
  NoExtraGroups(const NoExtraGroups&) = delete;
  NoExtraGroups& operator=(const NoExtraGroups&) = delete;

 private:
  long size_ = 0;
  long groups_ = 0;  // an address
  long count_ = 0;
  bool dropped_ = false;
};

// The caller's signal handlers must not run in a child that shares its memory.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    const std::uint64_t all = ~std::uint64_t{0};
    sys(__NR_rt_sigprocmask, long{SIG_SETMASK}, &all, &before_, 8L);
  }
  ~AllSignalsBlocked() { sys(__NR_rt_sigprocmask, long{SIG_SETMASK}, &before_, 0L, 8L); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  std::uint64_t before_ = 0;
};

long clone_as(wire::HelperKind kind, StartingChild& child) {
  const AllSignalsBlocked blocked;
  child.in_new_namespaces = kind == wire::HelperKind::kOneRun;
  if (!child.in_new_namespaces) return clone_starting_child(child);
  const NoExtraGroups dropped;
  return clone_starting_child(child);
}

NewHelper failed(Step step, long error) { return {.error = static_cast<int>(-error), .step = step}; }

NewHelper start_child(wire::HelperKind kind, std::uint32_t ready, const std::optional<UserIds>& as, long control,
                      long image) {
  char name[] = "sallyport-spawn";
  char what[wire::kHelperArgumentSize];
  wire::write_helper_argument({.kind = kind,
                               .ready = ready,
                               .uid = as ? as->uid : static_cast<std::uint32_t>(sys(__NR_geteuid)),
                               .gid = as ? as->gid : static_cast<std::uint32_t>(sys(__NR_getegid)),
                               .as_another = as.has_value()},
                              what);
  char* const argv[] = {&name[0], &what[0], nullptr};
  StartingChild child;
  child.control = static_cast<int>(control);
  child.image = static_cast<int>(image);
  child.argv = &argv[0];
  const long pid = clone_as(kind, child);
  if (pid < 0) return failed(child.in_new_namespaces ? Step::kNamespaces : Step::kExec, pid);
  if (child.error == 0) return {.pid = static_cast<int>(pid)};
  long reaped = 0;
  do {
    reaped = sys(__NR_wait4, pid, 0L, 0L, 0L);
  } while (reaped == kInterrupted);
  return failed(child.in_new_namespaces && !child.at_exec ? Step::kNamespaces : Step::kExec, -long{child.error});
}

}  // namespace

NewHelper start_helper(wire::HelperKind kind, std::uint32_t ready, const std::optional<UserIds>& as) {
  int pair[2] = {-1, -1};
  const long paired = sys(__NR_socketpair, long{AF_UNIX}, long{SOCK_SEQPACKET | SOCK_CLOEXEC}, 0L, &pair[0]);
  if (paired < 0) return failed(Step::kSocket, paired);
  const long theirs = above_fixed_places(pair[1]);
  const long image = theirs < 0 ? theirs : above_fixed_places(make_image());
  NewHelper started = image < 0 ? failed(Step::kImage, image) : start_child(kind, ready, as, theirs, image);
  close_fd(image);
  close_fd(theirs);
  if (started.pid != 0) {
    started.control = pair[0];
  } else {
    close_fd(pair[0]);
  }
  return started;
}

}  // namespace sallyport::spawn
