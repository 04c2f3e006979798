// Process 1 and the tool are made with CLONE_VM, so not even page tables are copied; both make raw system calls only and
// touch nothing but their own stack and the Floor they are given. The first call that fails ends the attempt.
#include "bench/floor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/if.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "core/seccomp/program.h"
#include "spawn/freestanding/sys.h"

namespace sallyport::bench {
namespace {

using spawn::helper::sys;

constexpr std::size_t kStackSize = std::size_t{64} << 10U;

struct Bind {
  std::string source;
  std::string target;  // relative to the new root
  std::uint64_t attributes;
  bool file;
  int tree = -1;
};

struct Floor {
  std::string exe;
  std::vector<char*> argv;
  std::vector<std::string> directories;  // to mount on
  std::vector<Bind> binds;
  std::string repo;
  Locks locks;
  std::array<int, 2> streams;
  std::string uid_map;
  std::string gid_map;
  sock_fprog filter;
  std::vector<char> tool_stack = std::vector<char>(kStackSize);
  int failed_at = 0;  // the line of the call that failed
};

// Ends the calling process at the first refusal.
void must(Floor& floor, long result, int line = __builtin_LINE()) {
  if (result >= 0) return;
  floor.failed_at = line;
  spawn::helper::exit_now(99);
}

void write_file(Floor& floor, const char* path, const char* text, std::size_t size) {
  const long fd = sys(__NR_openat, long{AT_FDCWD}, path, long{O_WRONLY | O_CLOEXEC}, 0L);
  must(floor, fd);
  must(floor, sys(__NR_write, fd, text, static_cast<long>(size)));
  sys(__NR_close, fd);
}

void set_identity(Floor& floor) {
  write_file(floor, "/proc/self/setgroups", "deny", 4);
  write_file(floor, "/proc/self/uid_map", floor.uid_map.data(), floor.uid_map.size());
  write_file(floor, "/proc/self/gid_map", floor.gid_map.data(), floor.gid_map.size());
  must(floor, sys(__NR_sethostname, "floor", 5L));
  const long fd = sys(__NR_socket, long{AF_INET}, long{SOCK_DGRAM | SOCK_CLOEXEC}, 0L);
  ifreq loopback = {};
  loopback.ifr_name[0] = 'l';
  loopback.ifr_name[1] = 'o';
  loopback.ifr_flags = IFF_UP | IFF_RUNNING;
  must(floor, sys(__NR_ioctl, fd, long{SIOCSIFFLAGS}, &loopback));
  sys(__NR_close, fd);
}

void clone_trees(Floor& floor) {
  for (Bind& bind : floor.binds) {
    bind.tree = static_cast<int>(sys(__NR_open_tree, long{AT_FDCWD}, bind.source.c_str(),
                                     long{OPEN_TREE_CLONE} | long{OPEN_TREE_CLOEXEC} | long{AT_RECURSIVE}));
    must(floor, bind.tree);
    mount_attr attributes = {};
    attributes.attr_set = bind.attributes;
    must(floor, sys(__NR_mount_setattr, long{bind.tree}, "", long{AT_EMPTY_PATH} | long{AT_RECURSIVE}, &attributes,
                    long{sizeof attributes}));
  }
}

void attach_trees(Floor& floor) {
  for (const Bind& bind : floor.binds) {
    if (bind.file) {
      const long fd =
          sys(__NR_openat, long{AT_FDCWD}, bind.target.c_str(), long{O_CREAT | O_WRONLY | O_CLOEXEC}, 0444L);
      must(floor, fd);
      sys(__NR_close, fd);
    }
    must(floor,
         sys(__NR_move_mount, long{bind.tree}, "", long{AT_FDCWD}, bind.target.c_str(), long{MOVE_MOUNT_F_EMPTY_PATH}));
    sys(__NR_close, long{bind.tree});
  }
}

void mount_fresh(Floor& floor, const char* type, const char* target, long flags, const char* options) {
  must(floor, sys(__NR_mount, type, target, type, flags, options));
}

void build_root(Floor& floor) {
  constexpr long kPlain = MS_NOSUID | MS_NODEV;
  must(floor, sys(__NR_mount, 0L, "/", 0L, long{MS_REC} | long{MS_PRIVATE}, 0L));
  clone_trees(floor);
  mount_fresh(floor, "tmpfs", "/usr", kPlain, "size=4m,mode=0755");
  must(floor, sys(__NR_chdir, "/usr"));
  for (const char* name : {"dev", "dev/pts", "dev/shm", "tmp", "proc", "home", "root", "run", "var", "etc"}) {
    sys(__NR_mkdir, name, 0755L);
  }
  for (const char* name : {"bin", "sbin", "lib", "lib64"}) {
    char target[16] = "usr/";
    for (std::size_t i = 0; name[i] != '\0'; ++i) target[4 + i] = name[i];
    sys(__NR_symlink, target, name);
  }
  mount_fresh(floor, "devpts", "dev/pts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
  mount_fresh(floor, "tmpfs", "tmp", kPlain, "size=1g,mode=1777");
  sys(__NR_mkdir, "tmp/.shm", 01777L);
  must(floor, sys(__NR_mount, "tmp/.shm", "dev/shm", 0L, long{MS_BIND}, 0L));
  mount_fresh(floor, "proc", "proc", kPlain | MS_NOEXEC | MS_RDONLY, nullptr);
  for (const std::string& directory : floor.directories) sys(__NR_mkdir, directory.c_str(), 0755L);
  attach_trees(floor);
  mount_attr read_only = {};
  read_only.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  must(floor, sys(__NR_mount_setattr, long{AT_FDCWD}, ".", 0L, &read_only, long{sizeof read_only}));
  must(floor, sys(__NR_pivot_root, ".", "."));
  must(floor, sys(__NR_umount2, ".", 2L /* MNT_DETACH */));
}

// Writes below /tmp and /dev only, as in spawn/helper/child_landlock.cc.
void landlock(Floor& floor) {
  const std::uint64_t rights =
      (LANDLOCK_ACCESS_FS_REFER << 1U) - 1 -
      (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
  const long ruleset = sys(__NR_landlock_create_ruleset, &rights, long{sizeof rights}, 0L);
  must(floor, ruleset);
  for (const char* path : {"/tmp", "/dev"}) {
    const long beneath = sys(__NR_openat, long{AT_FDCWD}, path, long{O_PATH | O_CLOEXEC}, 0L);
    const landlock_path_beneath_attr rule = {rights, static_cast<int>(beneath)};
    must(floor, sys(__NR_landlock_add_rule, ruleset, long{LANDLOCK_RULE_PATH_BENEATH}, &rule, 0L));
  }
  must(floor, sys(__NR_landlock_restrict_self, ruleset, 0L));
}

int tool(void* argument) {
  Floor& floor = *static_cast<Floor*>(argument);
  sys(__NR_setsid);
  must(floor, sys(__NR_chdir, floor.repo.c_str()));
  must(floor, sys(__NR_dup2, sys(__NR_openat, long{AT_FDCWD}, "/dev/null", long{O_RDONLY | O_CLOEXEC}, 0L), 0L));
  must(floor, sys(__NR_dup2, long{floor.streams[0]}, 1L));
  must(floor, sys(__NR_dup2, long{floor.streams[1]}, 2L));
  must(floor, sys(__NR_close_range, 3L, 0x7fffffffL, long{CLOSE_RANGE_CLOEXEC}));
  must(floor, sys(__NR_prctl, long{PR_SET_NO_NEW_PRIVS}, 1L, 0L, 0L, 0L));
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct nothing[2] = {};
  must(floor, sys(__NR_capset, &header, &nothing[0]));
  if (floor.locks == Locks::kSeccompAndLandlock) landlock(floor);
  if (floor.locks != Locks::kNone) must(floor, sys(__NR_seccomp, long{SECCOMP_SET_MODE_FILTER}, 0L, &floor.filter));
  const char* environment[] = {"PATH=/usr/bin:/bin", "HOME=/tmp", nullptr};
  must(floor, sys(__NR_execve, floor.exe.c_str(), floor.argv.data(), environment));
  return 99;
}

// Process 1: everything else in the namespace dies with it.
int init(void* argument) {
  Floor& floor = *static_cast<Floor*>(argument);
  must(floor, sys(__NR_prctl, long{PR_SET_PDEATHSIG}, long{SIGKILL}, 0L, 0L, 0L));
  set_identity(floor);
  build_root(floor);
  const int child = ::clone(tool, floor.tool_stack.data() + kStackSize, CLONE_VM | CLONE_VFORK | SIGCHLD, &floor);
  must(floor, child);
  sys(__NR_close_range, 0L, 0x7fffffffL, 0L);  // the pipes must end with the tool
  int status = 0;
  for (long pid = 0; pid != child;) pid = sys(__NR_wait4, -1L, &status, 0L, 0L);
  spawn::helper::exit_now(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

void add_bind(Floor& floor, const std::string& source, const std::string& target, std::uint64_t attributes) {
  std::error_code gone;
  const bool directory = std::filesystem::is_directory(source, gone);
  if (gone || !std::filesystem::exists(source, gone)) return;
  std::filesystem::path place = target;
  if (!directory) place = place.parent_path();
  std::vector<std::string> above;
  for (; !place.empty(); place = place.parent_path()) above.push_back(place);
  floor.directories.insert(floor.directories.end(), above.rbegin(), above.rend());
  floor.binds.push_back({.source = source, .target = target, .attributes = attributes, .file = !directory});
}

Floor describe(const std::string& exe, const std::vector<std::string>& argv, const std::string& repo, Locks locks) {
  constexpr std::uint64_t kReadOnly = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  Floor floor;
  floor.exe = exe;
  for (const std::string& word : argv) floor.argv.push_back(const_cast<char*>(word.c_str()));
  floor.argv.push_back(nullptr);
  floor.repo = repo;
  floor.locks = locks;
  for (const char* path : {"/usr", "/opt", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/ssl/certs"}) {
    add_bind(floor, path, path + 1, kReadOnly);
  }
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    add_bind(floor, path, path + 1, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  }
  for (const char* path : {"/proc/kallsyms", "/proc/keys", "/proc/kmsg", "/proc/timer_list"}) {
    if (::access(path, F_OK) != 0) continue;
    floor.binds.push_back({.source = "/dev/null", .target = path + 1, .attributes = MOUNT_ATTR_NOSUID, .file = false});
  }
  add_bind(floor, repo, repo.substr(1), kReadOnly);
  add_bind(floor, repo, "work", kReadOnly);
  floor.uid_map = fmt::format("1000 {} 1", ::geteuid());
  floor.gid_map = fmt::format("1000 {} 1", ::getegid());
  const std::string_view program = seccomp::program();
  floor.filter = {.len = static_cast<unsigned short>(program.size() / sizeof(sock_filter)),
                  .filter = const_cast<sock_filter*>(reinterpret_cast<const sock_filter*>(program.data()))};
  return floor;
}

}  // namespace

Finished run_on_floor(const std::string& exe, const std::vector<std::string>& argv, const std::string& repo,
                      Locks locks) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  Floor floor = describe(exe, argv, repo, locks);
  std::vector<char> stack(kStackSize);
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) std::abort();
  floor.streams = {out[1], err[1]};
  constexpr int kNamespaces =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  const int pid = ::clone(init, stack.data() + kStackSize, kNamespaces | CLONE_VM | SIGCHLD, &floor);
  ::close(out[1]);
  ::close(err[1]);
  Finished finished = read_both(out[0], err[0]);
  ::close(out[0]);
  ::close(err[0]);
  int status = 0;
  finished.ok = pid > 0 && ::waitpid(pid, &status, 0) == pid && status == 0;
  if (!finished.ok) {
    finished.why =
        fmt::format("wait status {:#x}, line {}: {}", static_cast<unsigned>(status), floor.failed_at, finished.why);
  }
  return finished;
}

}  // namespace sallyport::bench
