// The system calls that a jailed program may make (C22), by name: those that real tools need. Everything else gets
// ENOSYS, so a new kernel's new call is refused from its first day. The build turns it into a program (generate.cc);
// libseccomp knows the numbers. A name that this processor does not have is left out.
//
// Why a call is here: compilers, interpreters, virtual machines and package managers use it, and the namespaces, the
// mounts and the missing capabilities bound what it can do. docs/adr/0018 says how we made the table.
#pragma once

#include <array>
#include <cerrno>

namespace sallyport::seccomp {

// Allowed with any arguments. The kernel remembers these in a bitmap and does not run the filter for them.
// clang-format off: one word per line would hide the groups
inline constexpr auto kAllowed = std::to_array<const char*>({
    // Files and directories.
    "access", "chdir", "chown", "close", "close_range", "copy_file_range", "dup", "dup2", "dup3", "faccessat",
    "faccessat2", "fadvise64", "fallocate", "fchdir", "fchown", "fchownat", "fdatasync", "fgetxattr", "flistxattr",
    "flock", "fremovexattr", "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate", "futimesat", "getcwd", "getdents",
    "getdents64", "getxattr", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch", "lchown",
    "lgetxattr", "link", "linkat", "listxattr", "llistxattr", "lremovexattr", "lseek", "lsetxattr", "lstat",
    "newfstatat", "pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink",
    "readlinkat", "readv", "removexattr", "rename", "renameat", "renameat2", "rmdir", "sendfile", "setxattr", "stat",
    "statfs", "statx", "symlink", "symlinkat", "sync", "sync_file_range", "syncfs", "truncate", "umask", "unlink",
    "unlinkat", "utime", "utimensat", "utimes", "write", "writev",
    // Waiting and pipes.
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd", "eventfd2",
    "pipe", "pipe2", "poll", "ppoll", "pselect6", "select", "signalfd", "signalfd4", "splice", "tee", "vmsplice",
    // Memory. Without memfd_secret: it hides pages from the host, and no tool needs it.
    "brk", "madvise", "membarrier", "memfd_create", "mincore", "mlock", "mlock2", "mlockall", "mmap", "mprotect",
    "mremap", "msync", "munlock", "munlockall", "munmap", "pkey_alloc", "pkey_free", "pkey_mprotect",
    // Processes and threads. Without clone3: its flags are behind a pointer, and libc falls back to clone.
    "arch_prctl", "capget", "capset", "execve", "execveat", "exit", "exit_group", "fork", "futex", "futex_waitv",
    "getcpu", "getegid", "geteuid", "getgid", "getgroups", "getpgid", "getpgrp", "getpid", "getppid", "getpriority",
    "getresgid", "getresuid", "getrlimit", "getrusage", "getsid", "gettid", "getuid", "ioprio_get", "kill",
    "pidfd_open", "pidfd_send_signal", "restart_syscall", "rseq", "sched_get_priority_max", "sched_get_priority_min",
    "sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler", "sched_rr_get_interval",
    "sched_yield", "set_robust_list", "set_tid_address", "setfsgid", "setfsuid", "setgid", "setgroups", "setpgid",
    "setregid", "setresgid", "setresuid", "setreuid", "setrlimit", "setsid", "setuid", "tgkill", "tkill", "vfork",
    "wait4", "waitid",
    // Signals and time.
    "alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer", "gettimeofday", "nanosleep", "pause",
    "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend",
    "rt_sigtimedwait", "rt_tgsigqueueinfo", "setitimer", "sigaltstack", "time", "timer_create", "timer_delete",
    "timer_getoverrun", "timer_gettime", "timer_settime", "timerfd_create", "timerfd_gettime", "timerfd_settime",
    "times",
    // Sockets, once made.
    "accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen", "recvfrom",
    "recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto", "shutdown",
    // Messages within the jail's own ipc namespace: fakeroot, databases, test suites.
    "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget",
    "msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl", "shmdt", "shmget",
    // The rest; the last four let a program lock itself in further.
    "getrandom", "sysinfo", "uname", "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self",
    "seccomp",
});
// clang-format on

struct Refusal {
  const char* call;
  int error;
};

// Refused with an errno other than ENOSYS: one that libc or the program expects, so that it prints a sensible message,
// or continues without.
inline constexpr auto kRefused = std::to_array<Refusal>({
    // Namespaces and mounts: building another jail is the first step out of this one.
    {"mount", EPERM},
    {"umount2", EPERM},
    {"pivot_root", EPERM},
    {"chroot", EPERM},
    {"unshare", EPERM},
    {"setns", EPERM},
    {"open_tree", EPERM},
    {"move_mount", EPERM},
    {"fsopen", EPERM},
    {"fsconfig", EPERM},
    {"fsmount", EPERM},
    {"fspick", EPERM},
    {"mount_setattr", EPERM},
    // Other processes' memory and descriptors.
    {"ptrace", EPERM},
    {"process_vm_readv", EPERM},
    {"process_vm_writev", EPERM},
    {"pidfd_getfd", EPERM},
    {"process_madvise", EPERM},
    {"kcmp", EPERM},
    {"migrate_pages", EPERM},
    {"move_pages", EPERM},
    // Large, privileged or often broken parts of the kernel.
    {"bpf", EPERM},
    {"perf_event_open", EPERM},
    {"userfaultfd", EPERM},
    {"keyctl", EPERM},
    {"add_key", EPERM},
    {"request_key", EPERM},
    {"fanotify_init", EPERM},
    {"open_by_handle_at", EPERM},
    {"name_to_handle_at", EPERM},
    {"quotactl", EPERM},
    {"quotactl_fd", EPERM},
    // The machine itself.
    {"kexec_load", EPERM},
    {"kexec_file_load", EPERM},
    {"init_module", EPERM},
    {"finit_module", EPERM},
    {"delete_module", EPERM},
    {"reboot", EPERM},
    {"swapon", EPERM},
    {"swapoff", EPERM},
    {"acct", EPERM},
    {"syslog", EPERM},
    {"settimeofday", EPERM},
    {"clock_settime", EPERM},
    {"clock_adjtime", EPERM},
    {"adjtimex", EPERM},
    {"sethostname", EPERM},
    {"setdomainname", EPERM},
    {"vhangup", EPERM},
    {"iopl", EPERM},
    {"ioperm", EPERM},
    {"modify_ldt", EPERM},
});

}  // namespace sallyport::seccomp
