// What a jailed program may not ask the kernel for (C22), as data. tools and tests read the same table; a generator
// turns it into a BPF program at build time (generate.cc), so no run pays for that and every build has the same bytes.
//
// Everything not listed is allowed: what these calls could do is already bounded by the namespaces, the read-only mounts
// and the missing capabilities. The table removes what needs no privilege but reaches code in the kernel, or other
// processes, that no build tool or scanner has business with.
#pragma once

#include <array>
#include <cerrno>

namespace sallyport::seccomp {

struct DeniedCall {
  const char* name;
  int number;  // x86-64
  int error;   // what the libc or the program expects, so that it falls back instead of failing
};

inline constexpr auto kDenied = std::to_array<DeniedCall>({
    // Namespaces and mounts: building another jail is the first step out of this one.
    DeniedCall{"mount", 165, EPERM},
    DeniedCall{"umount2", 166, EPERM},
    DeniedCall{"pivot_root", 155, EPERM},
    DeniedCall{"chroot", 161, EPERM},
    DeniedCall{"unshare", 272, EPERM},
    DeniedCall{"setns", 308, EPERM},
    DeniedCall{"open_tree", 428, EPERM},
    DeniedCall{"move_mount", 429, EPERM},
    DeniedCall{"fsopen", 430, EPERM},
    DeniedCall{"fsconfig", 431, EPERM},
    DeniedCall{"fsmount", 432, EPERM},
    DeniedCall{"fspick", 433, EPERM},
    DeniedCall{"mount_setattr", 442, EPERM},
    DeniedCall{"statmount", 457, ENOSYS},
    DeniedCall{"listmount", 458, ENOSYS},
    DeniedCall{"open_tree_attr", 467, EPERM},
    // glibc falls back to clone, whose flags a filter can see; those of clone3 lie behind a pointer.
    DeniedCall{"clone3", 435, ENOSYS},
    // Other processes' memory and descriptors.
    DeniedCall{"ptrace", 101, EPERM},
    DeniedCall{"process_vm_readv", 310, EPERM},
    DeniedCall{"process_vm_writev", 311, EPERM},
    DeniedCall{"pidfd_getfd", 438, EPERM},
    DeniedCall{"process_madvise", 440, EPERM},
    DeniedCall{"process_mrelease", 448, EPERM},
    DeniedCall{"kcmp", 312, EPERM},
    DeniedCall{"migrate_pages", 256, EPERM},
    DeniedCall{"move_pages", 279, EPERM},
    // Large, privileged or often broken parts of the kernel.
    DeniedCall{"bpf", 321, EPERM},
    DeniedCall{"perf_event_open", 298, EPERM},
    DeniedCall{"userfaultfd", 323, EPERM},
    DeniedCall{"io_uring_setup", 425, ENOSYS},
    DeniedCall{"io_uring_enter", 426, ENOSYS},
    DeniedCall{"io_uring_register", 427, ENOSYS},
    DeniedCall{"keyctl", 250, EPERM},
    DeniedCall{"add_key", 248, EPERM},
    DeniedCall{"request_key", 249, EPERM},
    DeniedCall{"fanotify_init", 300, EPERM},
    DeniedCall{"open_by_handle_at", 304, EPERM},
    DeniedCall{"name_to_handle_at", 303, EPERM},
    DeniedCall{"quotactl", 179, EPERM},
    DeniedCall{"quotactl_fd", 443, EPERM},
    DeniedCall{"lookup_dcookie", 212, EPERM},
    // The machine itself.
    DeniedCall{"kexec_load", 246, EPERM},
    DeniedCall{"kexec_file_load", 320, EPERM},
    DeniedCall{"init_module", 175, EPERM},
    DeniedCall{"finit_module", 313, EPERM},
    DeniedCall{"delete_module", 176, EPERM},
    DeniedCall{"reboot", 169, EPERM},
    DeniedCall{"swapon", 167, EPERM},
    DeniedCall{"swapoff", 168, EPERM},
    DeniedCall{"acct", 163, EPERM},
    DeniedCall{"syslog", 103, EPERM},
    DeniedCall{"settimeofday", 164, EPERM},
    DeniedCall{"clock_settime", 227, EPERM},
    DeniedCall{"clock_adjtime", 305, EPERM},
    DeniedCall{"adjtimex", 159, EPERM},
    DeniedCall{"sethostname", 170, EPERM},
    DeniedCall{"setdomainname", 171, EPERM},
    DeniedCall{"vhangup", 153, EPERM},
    DeniedCall{"iopl", 172, EPERM},
    DeniedCall{"ioperm", 173, EPERM},
    DeniedCall{"modify_ldt", 154, EPERM},
    DeniedCall{"uselib", 134, ENOSYS},
    DeniedCall{"ustat", 136, ENOSYS},
    DeniedCall{"sysfs", 139, ENOSYS},
    DeniedCall{"_sysctl", 156, ENOSYS},
    DeniedCall{"nfsservctl", 180, ENOSYS},
});

// clone(2) flags that make namespaces: EPERM when any is set.
inline constexpr unsigned long kNamespaceFlags = 0x00000080UL |  // CLONE_NEWTIME
                                                 0x00020000UL |  // CLONE_NEWNS
                                                 0x02000000UL |  // CLONE_NEWCGROUP
                                                 0x04000000UL |  // CLONE_NEWUTS
                                                 0x08000000UL |  // CLONE_NEWIPC
                                                 0x10000000UL |  // CLONE_NEWUSER
                                                 0x20000000UL |  // CLONE_NEWPID
                                                 0x40000000UL;   // CLONE_NEWNET

struct DeniedIoctl {
  const char* name;
  unsigned int request;
};
// Typing into somebody's terminal (CVE-2017-5226, CVE-2023-1523), and the console's paste. The kernel looks at 32 bits
// of the request only, so the filter does too: a set upper half must not slip past it (snapd, CVE-2019-7303).
inline constexpr auto kDeniedIoctls =
    std::to_array<DeniedIoctl>({DeniedIoctl{"TIOCSTI", 0x5412}, DeniedIoctl{"TIOCLINUX", 0x541C}});

struct DeniedFcntl {
  const char* name;
  unsigned int command;
  int error;
};
// A lease makes whoever opens the file outside wait up to /proc/sys/fs/lease-break-time, 45 s, each time; a read-only file of
// the caller's is enough for one. EINVAL is what a file system without leases says.
inline constexpr auto kDeniedFcntls = std::to_array<DeniedFcntl>({DeniedFcntl{"F_SETLEASE", 1024, EINVAL}});

// Socket families that are left: unix, inet, inet6, netlink. Everything else (packet, vsock, alg, bluetooth …) is
// EAFNOSUPPORT; vsock in particular knows no network namespace. Of netlink only NETLINK_ROUTE, which libc needs.
inline constexpr auto kAllowedFamilies = std::to_array<unsigned>({1U, 2U, 10U, 16U});
inline constexpr unsigned kNetlinkFamily = 16;

}  // namespace sallyport::seccomp
