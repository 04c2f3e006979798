// Runs between clone and exec, in the tool's own process: drops everything the tool must not have, in an order in which
// no step needs what an earlier step dropped. It shares its parent's memory (see sallyport_clone_sharing_memory), so it
// touches nothing but its own stack and the ToolStart it was given.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <linux/stat.h>
#include <signal.h>
#include <sys/resource.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Stage;

long join_cgroups(const Run& run) {
  for (std::uint32_t i = 0; i < run.image->cgroup_count; ++i) {
    // "0" means the writer itself; the permission check uses the opener's credentials (Linux 5.16).
    const long written = sys(__NR_write, long{run.fds[run.first_cgroup_fd() + i]}, "0", 1L);
    if (written < 0) return written;
  }
  return 0;
}

// A caller whose hard limit is 0 cannot set the one byte that also stops a core_pattern's handler (see
// gate/resources.cc). Then a limit of 0, no core file, is the best we can do.
long limit_cores(const struct rlimit64& wanted) {
  const long set = sys(__NR_prlimit64, 0L, long{RLIMIT_CORE}, &wanted, 0L);
  if (set != -1) return set;  // EPERM
  const struct rlimit64 none = {0, 0};
  return sys(__NR_prlimit64, 0L, long{RLIMIT_CORE}, &none, 0L);
}

long apply_limits(const Run& run) {
  const auto* limits = reinterpret_cast<const wire::ResourceLimit*>(run.at(run.image->limits_at));
  for (std::uint32_t i = 0; i < run.image->limit_count; ++i) {
    const struct rlimit64 limit = {limits[i].soft, limits[i].hard};
    const bool of_cores = limits[i].resource == RLIMIT_CORE;
    // Set when the jail was sealed: its filter no longer allows a change.
    if (of_cores && run.has(wire::kSealedJail)) continue;
    const long set = of_cores ? limit_cores(limit) : sys(__NR_prlimit64, 0L, long{limits[i].resource}, &limit, 0L);
    if (set < 0) return set;
  }
  return 0;
}

long wire_stdio(const Run& run) {
  for (long target = 0; target < 3; ++target) {
    long from = run.fds[wire::kFdStdin + target];
    if (target == 0 && run.has(wire::kNullStdin))
      from = sys(__NR_openat, long{AT_FDCWD}, "/dev/null", long{O_RDONLY}, 0L);
    const long duplicated = from < 0 ? from : duplicate_onto(from, target);
    if (duplicated < 0) return duplicated;
  }
  return sys(__NR_close_range, 3L, 0x7fffffffL, long{CLOSE_RANGE_CLOEXEC});
}

// The first number above those that place_passed_fds() fills. Not higher: the caller may have a low RLIMIT_NOFILE.
long first_passed(const Run& run) {
  return run.has(wire::kInRuntime) ? long{wire::kFirstRuntimeFd} : long{wire::kFirstPassedFd};
}
constexpr long kOfWorker = 3;  // the channel, its pidfd, its /proc
long out_of_the_way(const Run& run) { return first_passed(run) + run.image->passed_count + kOfWorker; }

// First moves all of them out of the way, so that none replaces a descriptor that still has to be placed.
long place_passed_fds(const Run& run) {
  if (run.has(wire::kFramed)) return 0;  // it gets frames and no descriptor
  const std::uint32_t first = run.first_cgroup_fd() + run.image->cgroup_count;
  const int of_worker[kOfWorker] = {run.fds[wire::kFdChannel], run.own_pidfd, run.proc_fd};
  // Only a wrapper gets descriptors. kInRuntime is also set for our init inside, and the tool gets no descriptor of
  // ours.
  const std::uint32_t of_wrapper = run.has(wire::kInRuntime) ? kOfWorker : 1U;
  const std::uint32_t more = run.has(wire::kWrapper) ? of_wrapper : 0U;
  const std::uint32_t count = run.image->passed_count + more;
  long moved[wire::kMaxPassedFds + kOfWorker] = {};
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool passed = i < run.image->passed_count;
    const int from = passed ? run.fds[first + i] : of_worker[i - run.image->passed_count];
    moved[i] = sys(__NR_fcntl, long{from}, long{F_DUPFD_CLOEXEC}, out_of_the_way(run));
    if (moved[i] < 0) return moved[i];
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const long placed = duplicate_onto(moved[i], first_passed(run) + i);
    if (placed < 0) return placed;
  }
  return 0;
}

// In a user namespace of our own the bounding set is empty already: init's was.
long lock_capabilities() {
  const long secured =
      sys(__NR_prctl, long{PR_SET_SECUREBITS},
          long{SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED},
          0L, 0L, 0L);
  return secured < 0 ? secured : drop_capabilities();
}

// A process without CAP_SETPCAP cannot set the bits. Root without them regains nothing either: with no_new_privs, an
// exec gives a program no capability that the caller of exec lacked (cap_bprm_creds_from_file).
long lock_capabilities_if_allowed() {
  const long locked = lock_capabilities();
  return locked == -1 ? drop_capabilities() : locked;  // EPERM
}

// A wrapper dropped them; believe the kernel, not the wrapper.
long check_no_capabilities() {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct held[2] = {};
  const long known = sys(__NR_capget, &header, &held[0]);
  if (known < 0) return known;
  for (const auto& half : held) {
    if ((half.effective | half.permitted | half.inheritable) != 0) return -1;  // EPERM
  }
  return 0;
}

long apply_landlock(const Run& run, std::uint32_t& applied) {
  const long ruleset = make_landlock_ruleset(run);
  if (ruleset == kNoLandlock) return 0;
  if (ruleset < 0) return ruleset;
  const long restricted = sys(__NR_landlock_restrict_self, ruleset, 0L);
  if (restricted >= 0) applied |= wire::kAppliedLandlock;
  return restricted;
}

long apply_seccomp(const Run& run) {
  const struct sock_fprog program = {static_cast<unsigned short>(run.image->seccomp_count),
                                     reinterpret_cast<struct sock_filter*>(run.at(run.image->seccomp_at))};
  return sys(__NR_seccomp, long{SECCOMP_SET_MODE_FILTER}, 0L, &program);
}

// The file is opened inside the jail, where its mount is read-only, and must be the very file that was checked outside.
// Executing the owner's descriptor instead would give the tool a writable mount through /proc/self/exe (CVE-2019-5736).
long open_checked_exe(const wire::Image& image, const char* path) {
  const long fd = sys(__NR_openat, long{AT_FDCWD}, path, long{O_PATH | O_CLOEXEC | O_NOFOLLOW}, 0L);
  if (fd < 0) return fd;
  struct statx about = {};
  const long known = sys(__NR_statx, fd, "", long{AT_EMPTY_PATH}, long{STATX_BASIC_STATS}, &about);
  if (known < 0) return known;
  if (image.exec_inode == 0) return fd;  // a jail in which files do not have the numbers that they have on the host
  const std::uint64_t device = (std::uint64_t{about.stx_dev_major} << 32U) | about.stx_dev_minor;
  const std::int64_t mtime_ns = about.stx_mtime.tv_sec * 1'000'000'000LL + about.stx_mtime.tv_nsec;
  const bool same = device == image.exec_device && about.stx_ino == image.exec_inode &&
                    about.stx_size == image.exec_size && mtime_ns == image.exec_mtime_ns;
  return same ? fd : -116;  // ESTALE
}

long forbid_new_privileges() { return sys(__NR_prctl, long{PR_SET_NO_NEW_PRIVS}, 1L, 0L, 0L, 0L); }

// Forbids speculative store bypass and indirect branches (Spectre 4 and 2), for good. Since Linux 5.16 a seccomp filter
// no longer does this by itself. Where the processor or kernel lacks the control, or forces it already, there is
// nothing to forbid.
long forbid_speculation() {
  constexpr long kControls[] = {PR_SPEC_STORE_BYPASS, PR_SPEC_INDIRECT_BRANCH};
  constexpr long kNothingToForbid[] = {-6 /* ENXIO */, -19 /* ENODEV */, -22 /* EINVAL */, -1 /* EPERM */};
  for (const long control : kControls) {
    const long set =
        sys(__NR_prctl, long{PR_SET_SPECULATION_CTRL}, control, static_cast<long>(PR_SPEC_FORCE_DISABLE), 0L, 0L);
    bool fine = set >= 0;
    for (const long answer : kNothingToForbid) fine = fine || set == answer;
    if (!fine) return set;
  }
  return 0;
}

bool confine(const Run& run, Steps& steps, std::uint32_t& applied) {
  const bool may_gain = !run.jailed() && run.has(wire::kEngine);
  if (!steps.ok(Stage::kNoNewPrivs, may_gain ? 0 : forbid_new_privileges())) return false;
  if (!run.jailed() && !run.confined()) return true;
  if (!steps.ok(Stage::kSpeculation, run.has(wire::kAllowSpeculation) ? 0 : forbid_speculation())) return false;
  if (run.confined()) {
    if (!steps.ok(Stage::kLandlock, enter_ruleset(run))) return false;
    applied |= wire::kAppliedLandlock;
    return steps.ok(Stage::kCapabilities, lock_capabilities_if_allowed());
  }
  if (!steps.ok(Stage::kLandlock, apply_landlock(run, applied))) return false;
  return steps.ok(Stage::kCapabilities, run.in_own_user_namespace() ? lock_capabilities() : check_no_capabilities());
}

long execute(const Run& run, long exe) {
  return sys(__NR_execveat, exe, "", run.at(run.image->argv_at), run.at(run.image->env_at), long{AT_EMPTY_PATH});
}

// By name, so that the interpreter of a script can open the file again. Only the image's maker can have put it there.
long execute_first(const Run& run) {
  char path[4096];
  long answer = -2;  // ENOENT
  for (const char* at = run.at(run.image->exec_path); *at != '\0';) {
    std::size_t size = 0;
    for (; *at != ':' && *at != '\0'; ++at) {
      if (size < sizeof path - 1) path[size++] = *at;
    }
    path[size] = '\0';
    if (*at == ':') ++at;
    const long said = sys(__NR_execve, path, run.at(run.image->argv_at), run.at(run.image->env_at));
    const bool not_there = said == -2 || said == -20;  // ENOENT, ENOTDIR
    if (!not_there && said != -13) return said;        // EACCES: as for execvp(3), another may do
    if (!not_there) answer = said;
  }
  return answer;
}

bool prepare(const Run& run, Steps& steps, std::uint32_t& applied) {
  const std::uint64_t no_signals = 0;
  sys(__NR_rt_sigprocmask, long{SIG_SETMASK}, &no_signals, 0L, 8L);
  if (!steps.ok(Stage::kParentAlive, sys(__NR_prctl, long{PR_SET_PDEATHSIG}, long{SIGKILL}, 0L, 0L, 0L))) return false;
  if (!steps.ok(Stage::kSession, sys(__NR_setsid))) return false;
  if (!steps.ok(Stage::kCgroup, join_cgroups(run))) return false;
  // Unshare only now, so that /proc/self/cgroup shows the cgroup just joined as the root.
  const bool to_confine = run.jailed() && !run.has(wire::kSealedJail);
  if (to_confine && !steps.ok(Stage::kCgroupNamespace, sys(__NR_unshare, long{CLONE_NEWCGROUP}))) return false;
  if (!steps.ok(Stage::kLimits, apply_limits(run))) return false;
  const long cwd =
      run.jailed() ? sys(__NR_chdir, run.at(run.image->cwd)) : sys(__NR_fchdir, long{run.fds[wire::kFdCwd]});
  if (!steps.ok(Stage::kWorkingDirectory, cwd)) return false;
  if (!steps.ok(Stage::kStdio, wire_stdio(run)) || !steps.ok(Stage::kStdio, place_passed_fds(run))) return false;
  return run.has(wire::kSealedJail) || confine(run, steps, applied);
}

enum Init : unsigned { kUnconfined, kConfined, kNotConfinable };

// Waits until init is confined as the tool is.
long await_init(const unsigned& init_is) {
  unsigned now = kUnconfined;
  while ((now = __atomic_load_n(&init_is, __ATOMIC_ACQUIRE)) == kUnconfined) {
    sys(__NR_futex, &init_is, long{FUTEX_WAIT}, long{kUnconfined}, 0L, 0L, 0L);
  }
  return now == kConfined ? 0 : -1;
}

void tool_child(void* argument) {
  ToolStart& start = *static_cast<ToolStart*>(argument);
  const Run& run = *start.run;
  Steps steps(*run.image, start.failure);
  long exe = -1;
  if (!run.jailed()) {
    exe = sys(__NR_fcntl, long{run.fds[wire::kFdExe]}, long{F_DUPFD_CLOEXEC}, out_of_the_way(run));
    if (!steps.ok(Stage::kExec, exe)) exit_now(127);
  }
  if (!prepare(run, steps, start.applied)) exit_now(127);
  const bool searched = run.has(wire::kExecSearched);
  if (run.jailed() && !searched) {
    exe = open_checked_exe(*run.image, run.at(run.image->exec_path));
    if (!steps.ok(Stage::kExecIdentity, exe)) exit_now(127);
  }
  if (run.jailed() && !run.has(wire::kSealedJail)) {
    if (!steps.ok(Stage::kSeccomp, apply_seccomp(run))) exit_now(127);
    if (await_init(start.init_is) < 0) exit_now(127);
  }
  if (run.confined() && !steps.ok(Stage::kSeccomp, ask_by_seccomp(run))) exit_now(127);
  if (steps.ok(Stage::kExec, 0)) steps.ok(Stage::kExec, searched ? execute_first(run) : execute(run, exe));
  exit_now(127);
}

// For an init whose tool confines itself: drops what the init needed to build the jail.
long confine_init(const Run& run) {
  const long privileges = forbid_new_privileges();
  if (privileges < 0) return privileges;
  const long dropped = lock_capabilities();
  return dropped < 0 ? dropped : apply_seccomp(run);
}

// The tool has to join its cgroup and then enter a cgroup namespace, which takes a capability; so it cannot inherit our
// locks. We lock ourselves at the same time, and the tool waits before its exec until we have.
long start_beside(ToolStart& start) {
  start.init_is = kUnconfined;
  start.before_exec = 1;
  const long pid =
      sallyport_clone_sharing_memory(start.run->child_stack_top, tool_child, &start,
                                     long{CLONE_VM} | long{CLONE_CHILD_CLEARTID} | long{SIGCHLD}, &start.before_exec);
  if (pid < 0) return pid;
  Failure failure = {};
  const bool confined = Steps(*start.run->image, failure).ok(Stage::kInitLocks, confine_init(*start.run));
  __atomic_store_n(&start.init_is, confined ? kConfined : kNotConfinable, __ATOMIC_RELEASE);
  sys(__NR_futex, &start.init_is, long{FUTEX_WAKE}, 1L, 0L, 0L, 0L);
  while (__atomic_load_n(&start.before_exec, __ATOMIC_ACQUIRE) != 0) {
    sys(__NR_futex, &start.before_exec, long{FUTEX_WAIT}, 1L, 0L, 0L, 0L);
  }
  if (!confined) start.failure = failure;
  return pid;
}

}  // namespace

long drop_capabilities() {
  const long cleared = sys(__NR_prctl, long{PR_CAP_AMBIENT}, long{PR_CAP_AMBIENT_CLEAR_ALL}, 0L, 0L, 0L);
  if (cleared < 0) return cleared;
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const struct __user_cap_data_struct nothing[2] = {};
  return sys(__NR_capset, &header, &nothing[0]);
}

bool seal(Run& run, Steps& steps) {
  const long own_cgroups = run.in_own_user_namespace() ? sys(__NR_unshare, long{CLONE_NEWCGROUP}) : 0;
  const bool sealed = steps.ok(Stage::kLimits, limit_cores({1, 1})) && steps.ok(Stage::kCgroupNamespace, own_cgroups) &&
                      confine(run, steps, run.applied_ahead) && steps.ok(Stage::kSeccomp, apply_seccomp(run)) &&
                      steps.ok(Stage::kInitLocks, 0);
  if (sealed) run.image->flags |= wire::kSealedJail;
  return sealed;
}

long start_tool(ToolStart& start) {
  const Run& run = *start.run;
  start.failure = {};
  start.applied = run.applied_ahead;
  const bool beside = run.jailed() && !run.has(wire::kSealedJail);
  const long pid = beside ? start_beside(start)
                          : sallyport_clone_sharing_memory(run.child_stack_top, tool_child, &start,
                                                           long{CLONE_VM} | long{CLONE_VFORK} | long{SIGCHLD}, nullptr);
  if (pid < 0) {
    start.failure = {Stage::kClone, static_cast<int>(-pid)};
    return pid;
  }
  if (start.failure.error == 0) return pid;
  sys(__NR_wait4, pid, 0L, 0L, 0L);
  return -start.failure.error;
}

}  // namespace sallyport::spawn::helper
