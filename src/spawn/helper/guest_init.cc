// Process 1 of a virtual machine (jails/microvm): loads the drivers that its initramfs brings, takes the launch image as frames over
// virtio-serial, builds the root of a jail from what the host shares over 9p, and becomes the init of a framed run
// (framed_init.cc). The kernel here is the guest's own and is no boundary to the host. The boundary is the machine, and
// the jail around the machine.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/in.h>
#include <linux/mount.h>
#include <linux/route.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/socket.h>

#include "spawn/freestanding/decimal.h"
#include "spawn/helper/run.h"
#include "spawn/helper/write_text.h"
#include "spawn/wire/guest.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

// Only a person who reads the console sees the text. Process 1 exits, so the kernel panics, and the machine ends.
[[noreturn]] void give_up(const char* what) {
  const long console = sys(__NR_openat, long{AT_FDCWD}, "/dev/console", long{O_WRONLY | O_CLOEXEC}, 0L);
  std::size_t size = 0;
  while (what[size] != '\0') ++size;
  sys(__NR_write, console, what, static_cast<long>(size));
  exit_now(1);
}

long mount_at(const char* source, const char* target, const char* type, long flags, const char* options) {
  const long made = sys(__NR_mkdirat, long{AT_FDCWD}, target, 0755L);
  if (made < 0 && made != -17) return made;  // EEXIST
  return sys(__NR_mount, source, target, type, flags, options);
}

// /m/0, /m/1, …: in the order of their dependencies.
void load_modules() {
  for (std::uint32_t i = 0;; ++i) {
    char path[16] = "/m/";
    *append_number(path + 3, i) = '\0';
    const long file = sys(__NR_openat, long{AT_FDCWD}, path, long{O_RDONLY | O_CLOEXEC}, 0L);
    if (file == -2) return;  // ENOENT: that was the last
    if (file < 0) give_up("sallyport: a module cannot be opened\n");
    const long loaded = sys(__NR_finit_module, file, "", 0L);
    if (loaded < 0 && loaded != -17) give_up("sallyport: a module cannot be loaded\n");  // EEXIST: built in
    sys(__NR_close, file);
  }
}

void sleep_a_moment() {
  const struct {
    std::int64_t seconds, nanoseconds;
  } moment = {0, 1'000'000};
  sys(__NR_nanosleep, &moment, 0L);
}

// The driver finds the port a moment after it is loaded. Stdin and stdout are that port from now on.
void open_port() {
  constexpr int kTries = 10'000;
  for (int i = 0; i < kTries; ++i) {
    const long port = sys(__NR_openat, long{AT_FDCWD}, "/dev/vport0p1", long{O_RDWR}, 0L);
    if (port < 0) {
      sleep_a_moment();
      continue;
    }
    // This replaces whatever the kernel opened for us as a console.
    for (long target = 0; target < 2; ++target) {
      if (port != target && duplicate_onto(port, target) < 0) give_up("sallyport: no descriptors\n");
    }
    return;
  }
  give_up("sallyport: no virtio-serial port appears\n");
}

// pivot_root(2) cannot replace a machine's first root; it can replace a mount that is moved onto that root.
long leave_first_root() {
  long result = mount_at("tmpfs", "/t", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755");
  if (result >= 0) result = sys(__NR_chdir, "/t");
  if (result >= 0) result = mount_at("devtmpfs", "dev", "devtmpfs", MS_NOSUID | MS_NOEXEC, "");
  if (result >= 0) result = mount_at("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "");
  if (result >= 0) result = mount_at("cgroup2", "cg", "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, "");
  if (result >= 0) result = sys(__NR_mount, ".", "/", 0L, long{MS_MOVE}, 0L);
  if (result >= 0) result = sys(__NR_chroot, ".");
  return result < 0 ? result : sys(__NR_chdir, "/");
}

long mount_shares(const Run& run) {
  const long seen = mount_at(wire::kViewTag, wire::kViewPlace, "9p", MS_RDONLY | MS_NOSUID | MS_NODEV,
                             "trans=virtio,version=9p2000.L,cache=loose,msize=262144");
  if (seen < 0 || !run.has(wire::kGuestWrites)) return seen;
  // The host may read these files during the run, so writes go through at once; cache=mmap caches only what a program
  // has mapped.
  return mount_at(wire::kWritableTag, wire::kWritablePlace, "9p", MS_NOSUID | MS_NODEV,
                  "trans=virtio,version=9p2000.L,cache=mmap,msize=262144");
}

struct sockaddr address_of(std::uint32_t ipv4) {
  struct sockaddr result = {};
  auto* in = reinterpret_cast<struct sockaddr_in*>(&result);
  in->sin_family = AF_INET;
  in->sin_addr.s_addr = __builtin_bswap32(ipv4);
  return result;
}

// The addresses of QEMU's user-mode network.
long network_up() {
  constexpr std::uint32_t kOwn = 0x0a00020f;
  constexpr std::uint32_t kGateway = 0x0a000202;
  const long fd = sys(__NR_socket, long{AF_INET}, long{SOCK_DGRAM | SOCK_CLOEXEC}, 0L);
  if (fd < 0) return fd;
  struct ifreq request = {};
  const char name[] = "eth0";
  for (std::size_t i = 0; i < sizeof name; ++i) request.ifr_name[i] = name[i];
  request.ifr_addr = address_of(kOwn);
  long result = sys(__NR_ioctl, fd, long{SIOCSIFADDR}, &request);
  request.ifr_addr = address_of(0xffffff00);
  if (result >= 0) result = sys(__NR_ioctl, fd, long{SIOCSIFNETMASK}, &request);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (result >= 0) result = sys(__NR_ioctl, fd, long{SIOCSIFFLAGS}, &request);
  struct rtentry route = {};
  route.rt_dst = address_of(0);
  route.rt_genmask = address_of(0);
  route.rt_gateway = address_of(kGateway);
  route.rt_flags = RTF_UP | RTF_GATEWAY;
  if (result >= 0) result = sys(__NR_ioctl, fd, long{SIOCADDRT}, &route);
  sys(__NR_close, fd);
  return result;
}

long write_number(const char* path, std::uint64_t number) {
  char digits[24];
  char* at = digits + sizeof digits;
  do {
    *--at = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return write_text(long{AT_FDCWD}, path, at, static_cast<std::size_t>(digits + sizeof digits - at));
}

// This process joins the cgroup too, so whatever it starts is counted there. The kernel's out-of-memory killer never
// kills process 1.
long limit_by_cgroup(const Run& run) {
  const wire::Image& image = *run.image;
  const char controllers[] = "+memory +pids";
  long result = write_text(long{AT_FDCWD}, "/cg/cgroup.subtree_control", controllers, sizeof controllers - 1);
  if (result >= 0) result = sys(__NR_mkdirat, long{AT_FDCWD}, "/cg/run", 0755L);
  if (result >= 0 && image.guest_memory != 0) result = write_number("/cg/run/memory.max", image.guest_memory);
  if (result >= 0 && image.guest_pids != 0) result = write_number("/cg/run/pids.max", image.guest_pids + 1);
  if (result >= 0) result = write_text(long{AT_FDCWD}, "/cg/run/cgroup.procs", "0", 1);
  return result < 0 ? result : sys(__NR_unshare, long{CLONE_NEWCGROUP});
}

long become_user() {
  const long groups = sys(__NR_setgroups, 0L, 0L);
  return groups < 0 ? groups : become_another();
}

bool build_root(Run& run, Steps& steps) {
  MadeAhead& made = run.made_ahead;
  if (!steps.ok(Stage::kBind, mount_shares(run)) || !steps.ok(Stage::kLoopback, loopback_up())) return false;
  if (run.has(wire::kGuestNetwork) && !steps.ok(Stage::kNetwork, network_up())) return false;
  if (!steps.ok(Stage::kHostname, sys(__NR_sethostname, "sallyport", 9L))) return false;
  if (!steps.ok(Stage::kCgroup, limit_by_cgroup(run))) return false;
  // Opened here, because the tool's root does not show it.
  run.oom_counter_fd =
      static_cast<int>(sys(__NR_openat, long{AT_FDCWD}, "/proc/vmstat", long{O_RDONLY | O_CLOEXEC}, 0L));
  if (!steps.ok(Stage::kCgroup, run.oom_counter_fd)) return false;
  if (!steps.ok(Stage::kCapabilities, empty_bounding_set())) return false;
  const long group = sys(__NR_setresgid, long{wire::kInsideId}, long{wire::kInsideId}, long{wire::kInsideId});
  if (!steps.ok(Stage::kUserMap, group)) return false;
  run.as_another = true;
  sys(__NR_setfsuid, long{wire::kInsideId});  // whose the new root is
  stage_root(made);
  return steps.ok(Stage::kPrivateMounts, made.private_mounts) && steps.ok(Stage::kNewRoot, made.new_root) &&
         add_to_root(run, steps) && enter_root(steps);
}

}  // namespace

void open_guests_port() {
  if (mount_at("devtmpfs", "/dev", "devtmpfs", MS_NOSUID | MS_NOEXEC, "") < 0) give_up("sallyport: no devices\n");
  load_modules();
  open_port();
}

bool build_in_guest(Run& run, Steps& steps) {
  if (!steps.ok(Stage::kNewRoot, leave_first_root()) || !build_root(run, steps)) return false;
  // The host cannot see this mount, so we watch it.
  run.guest_scratch_fd = run.scratch_fd;
  run.scratch_fd = -1;
  return steps.ok(Stage::kUserMap, become_user());
}

void linger_in_guest(const Run& run) {
  if (run.image == nullptr || !run.has(wire::kInGuest)) return;
  // What we wrote is on its way to the host; the worker ends the machine when it has read it.
  for (;;) sys(__NR_ppoll, 0L, 0L, 0L, 0L, 0L);
}

}  // namespace sallyport::spawn::helper
