// The calls whose answer depends on their arguments. Numbers are the kernel's (asm-generic); seccomp_test.cc compares them
// with the headers.
#pragma once

#include <array>
#include <cerrno>

#include "core/seccomp/rule.h"

namespace sallyport::seccomp {

inline constexpr std::uint32_t kNamespaceFlags = 0x00000080U |  // CLONE_NEWTIME
                                                 0x00020000U |  // CLONE_NEWNS
                                                 0x02000000U |  // CLONE_NEWCGROUP
                                                 0x04000000U |  // CLONE_NEWUTS
                                                 0x08000000U |  // CLONE_NEWIPC
                                                 0x10000000U |  // CLONE_NEWUSER
                                                 0x20000000U |  // CLONE_NEWPID
                                                 0x40000000U;   // CLONE_NEWNET
inline constexpr auto kNoNamespaces = std::to_array<Clause>({Clause(kAllow, none_of(0, kNamespaceFlags))});

// Refuses set-id modes, as systemd's RestrictSUIDSGID does: other users could run a set-id file of a writable repo
// outside. openat2 is ENOSYS by default: its mode is behind a pointer. The kernel reads a mode as 16 bits.
inline constexpr std::uint32_t kSetId = 06000;
template <unsigned kMode>
inline constexpr auto kNoSetId = std::to_array<Clause>({Clause(kAllow, none_of(kMode, kSetId))});
// Check the mode only when the call may create a file; otherwise the register holds anything.
inline constexpr std::uint32_t kMayCreate = 0100U | 020000000U;  // O_CREAT, __O_TMPFILE
template <unsigned kFlags>
inline constexpr auto kOpen =
    std::to_array<Clause>({Clause(kAllow, none_of(kFlags, kMayCreate)), Clause(kAllow, none_of(kFlags + 1, kSetId))});
// Files, pipes and sockets. A plain user can make one device node, overlayfs's whiteout; it is refused with the rest.
inline constexpr std::uint32_t kFileType = 0170000;
template <unsigned kMode>
inline constexpr auto kNoDevice = std::to_array<Clause>({Clause(kAllow, masked(kMode, kFileType | kSetId, 0)),
                                                         Clause(kAllow, masked(kMode, kFileType | kSetId, 0100000)),
                                                         Clause(kAllow, masked(kMode, kFileType | kSetId, 0010000)),
                                                         Clause(kAllow, masked(kMode, kFileType | kSetId, 0140000))});

// Typing into another process's terminal (CVE-2017-5226, CVE-2023-1523), the console's paste, and line disciplines:
// TIOCSETD loads kernel modules and reaches code such as n_gsm and n_hdlc, which attackers have used to gain privileges
// (CVE-2017-2636).
inline constexpr auto kTerminal = std::to_array<Clause>({Clause(EPERM, equals(1, 0x5412)),    // TIOCSTI
                                                         Clause(EPERM, equals(1, 0x541C)),    // TIOCLINUX
                                                         Clause(EPERM, equals(1, 0x5423))});  // TIOCSETD

// A lease makes a process outside wait up to /proc/sys/fs/lease-break-time, 45 s, each time it opens the file; a
// read-only file of the caller is enough for a lease. A file system without leases answers EINVAL. Commands newer than
// F_SET_FILE_RW_HINT are refused too: delegations (Linux 6.19) are leases on directories.
inline constexpr auto kDescriptor =
    std::to_array<Clause>({Clause(EINVAL, equals(1, 1024)),  // F_SETLEASE
                           Clause(kAllow, masked(1, ~0x3fU, 0)), Clause(kAllow, masked(1, ~0xfU, 1024))});

// unix, TCP, UDP, and NETLINK_ROUTE, which libc needs. vsock ignores network namespaces; MPTCP, SCTP, DCCP, UDP-Lite,
// SMC, raw and packet sockets have no use here, and their code has had vulnerabilities.
inline constexpr std::uint32_t kSocketType = 0xf;  // the rest is SOCK_CLOEXEC and SOCK_NONBLOCK
inline constexpr std::uint32_t kUnix = 1;
inline constexpr std::uint32_t kInet = 2;
inline constexpr std::uint32_t kInet6 = 10;
inline constexpr std::uint32_t kNetlink = 16;
inline constexpr std::uint32_t kStream = 1;
inline constexpr std::uint32_t kDatagram = 2;
inline constexpr std::uint32_t kRaw = 3;
inline constexpr std::uint32_t kTcp = 6;
inline constexpr std::uint32_t kUdp = 17;
inline constexpr auto kSocket = std::to_array<Clause>(
    {Clause(kAllow, equals(0, kUnix)), Clause(kAllow, equals(0, kInet), masked(1, kSocketType, kStream), equals(2, 0)),
     Clause(kAllow, equals(0, kInet), masked(1, kSocketType, kStream), equals(2, kTcp)),
     Clause(kAllow, equals(0, kInet), masked(1, kSocketType, kDatagram), equals(2, 0)),
     Clause(kAllow, equals(0, kInet), masked(1, kSocketType, kDatagram), equals(2, kUdp)),
     Clause(kAllow, equals(0, kInet6), masked(1, kSocketType, kStream), equals(2, 0)),
     Clause(kAllow, equals(0, kInet6), masked(1, kSocketType, kStream), equals(2, kTcp)),
     Clause(kAllow, equals(0, kInet6), masked(1, kSocketType, kDatagram), equals(2, 0)),
     Clause(kAllow, equals(0, kInet6), masked(1, kSocketType, kDatagram), equals(2, kUdp)),
     Clause(kAllow, equals(0, kNetlink), equals(2, 0)),
     // The errors that ping and similar programs expect from a kernel that forbids these sockets; Go tries MPTCP first
     // and falls back to TCP.
     Clause(EPERM, equals(0, kInet), masked(1, kSocketType, kRaw)),
     Clause(EPERM, equals(0, kInet6), masked(1, kSocketType, kRaw)), Clause(EPROTONOSUPPORT, equals(0, kInet)),
     Clause(EPROTONOSUPPORT, equals(0, kInet6)), Clause(EPROTONOSUPPORT, equals(0, kNetlink))});
inline constexpr auto kSocketPair = std::to_array<Clause>({Clause(kAllow, equals(0, kUnix))});
// TCP_ULP changes a TCP socket's protocol (kernel TLS, SMC). ENOENT: no such protocol.
inline constexpr auto kSocketOption = std::to_array<Clause>({Clause(ENOENT, equals(1, kTcp), equals(2, 31))});

// Process 1 is our init; every other process in the pid namespace is the tool's own. A tool that could limit init's
// processor time or lower its priority could kill or stall the process that reports the run.
inline constexpr std::uint32_t kInit = 1;
inline constexpr auto kNotInit = std::to_array<Clause>({Clause(EPERM, equals(0, kInit))});
// A call by group or user would affect init too.
inline constexpr auto kPriority = std::to_array<Clause>(
    {Clause(EPERM, equals(0, 0), equals(1, kInit)), Clause(kAllow, equals(0, 0))});  // PRIO_PROCESS
inline constexpr auto kIoPriority = std::to_array<Clause>(
    {Clause(EPERM, equals(0, 1), equals(1, kInit)), Clause(kAllow, equals(0, 1))});  // IOPRIO_WHO_PROCESS

// Allows plain Linux, its 32-bit name, no address randomisation (debuggers, ThreadSanitizer), and the query.
// READ_IMPLIES_EXEC and MMAP_PAGE_ZERO undo the kernel's own protections.
inline constexpr auto kPersonality =
    std::to_array<Clause>({Clause(kAllow, equals(0, 0)), Clause(kAllow, equals(0, 0x8)),
                           Clause(kAllow, equals(0, 0x0040000)), Clause(kAllow, equals(0, 0xffffffff))});

// What programs set for themselves; EINVAL is an older kernel's answer to an unknown option. Left out: PR_SET_MM,
// PR_SET_SYSCALL_USER_DISPATCH, PR_SCHED_CORE, PR_SET_MEMORY_MERGE, PR_SET_IO_FLUSHER, PR_MCE_KILL ….
inline constexpr auto kProcess = std::to_array<Clause>({
    Clause(kAllow, equals(0, 1)),           // PR_SET_PDEATHSIG
    Clause(kAllow, equals(0, 2)),           // PR_GET_PDEATHSIG
    Clause(kAllow, equals(0, 3)),           // PR_GET_DUMPABLE
    Clause(kAllow, equals(0, 4)),           // PR_SET_DUMPABLE
    Clause(kAllow, equals(0, 7)),           // PR_GET_KEEPCAPS
    Clause(kAllow, equals(0, 8)),           // PR_SET_KEEPCAPS
    Clause(kAllow, equals(0, 15)),          // PR_SET_NAME
    Clause(kAllow, equals(0, 16)),          // PR_GET_NAME
    Clause(kAllow, equals(0, 21)),          // PR_GET_SECCOMP
    Clause(kAllow, equals(0, 22)),          // PR_SET_SECCOMP
    Clause(kAllow, equals(0, 23)),          // PR_CAPBSET_READ
    Clause(kAllow, equals(0, 24)),          // PR_CAPBSET_DROP
    Clause(kAllow, equals(0, 25)),          // PR_GET_TSC
    Clause(kAllow, equals(0, 27)),          // PR_GET_SECUREBITS
    Clause(kAllow, equals(0, 29)),          // PR_SET_TIMERSLACK
    Clause(kAllow, equals(0, 30)),          // PR_GET_TIMERSLACK
    Clause(kAllow, equals(0, 36)),          // PR_SET_CHILD_SUBREAPER
    Clause(kAllow, equals(0, 37)),          // PR_GET_CHILD_SUBREAPER
    Clause(kAllow, equals(0, 38)),          // PR_SET_NO_NEW_PRIVS
    Clause(kAllow, equals(0, 39)),          // PR_GET_NO_NEW_PRIVS
    Clause(kAllow, equals(0, 41)),          // PR_SET_THP_DISABLE
    Clause(kAllow, equals(0, 42)),          // PR_GET_THP_DISABLE
    Clause(kAllow, equals(0, 47)),          // PR_CAP_AMBIENT
    Clause(kAllow, equals(0, 52)),          // PR_GET_SPECULATION_CTRL
    Clause(kAllow, equals(0, 53)),          // PR_SET_SPECULATION_CTRL
    Clause(kAllow, equals(0, 65)),          // PR_SET_MDWE
    Clause(kAllow, equals(0, 66)),          // PR_GET_MDWE
    Clause(kAllow, equals(0, 0x53564d41)),  // PR_SET_VMA
    Clause(kAllow, equals(0, 0x59616d61)),  // PR_SET_PTRACER
});

inline constexpr auto kByArguments = std::to_array<Rule>({
    {"clone", EPERM, kNoNamespaces},
    {"chmod", EPERM, kNoSetId<1>},
    {"fchmod", EPERM, kNoSetId<1>},
    {"fchmodat", EPERM, kNoSetId<2>},
    {"creat", EPERM, kNoSetId<1>},
    {"mkdir", EPERM, kNoSetId<1>},
    {"mkdirat", EPERM, kNoSetId<2>},
    {"open", EPERM, kOpen<1>},
    {"openat", EPERM, kOpen<2>},
    {"mknod", EPERM, kNoDevice<1>},
    {"mknodat", EPERM, kNoDevice<2>},
    {"ioctl", kAllow, kTerminal},
    {"fcntl", EINVAL, kDescriptor},
    {"socket", EAFNOSUPPORT, kSocket},
    {"socketpair", EAFNOSUPPORT, kSocketPair},
    {"setsockopt", kAllow, kSocketOption},
    {"prlimit64", kAllow, kNotInit},
    {"sched_setaffinity", kAllow, kNotInit},
    {"sched_setattr", kAllow, kNotInit},
    {"sched_setparam", kAllow, kNotInit},
    {"sched_setscheduler", kAllow, kNotInit},
    {"setpriority", EPERM, kPriority},
    {"ioprio_set", EPERM, kIoPriority},
    {"personality", EPERM, kPersonality},
    {"prctl", EINVAL, kProcess},
});

}  // namespace sallyport::seccomp
