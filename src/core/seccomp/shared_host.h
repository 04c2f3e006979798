// What is answered otherwise when the tool shares the host's namespaces: no mount, network, ipc or pid namespace stands behind
// a call there, only Landlock (jails/landlock). Each of these reaches what Landlock does not look at.
#pragma once

#include <array>
#include <cerrno>

#include "core/seccomp/arguments.h"
#include "core/seccomp/rule.h"

namespace sallyport::seccomp {

// Landlock knows no right for a file's mode, owner and times, and whoever owns a file may change them. So the worker is asked;
// it does it for a file in a writable place, and for no other.
template <unsigned kMode>
inline constexpr auto kAskUnlessSetId = std::to_array<Clause>({Clause(kAsk, none_of(kMode, kSetId))});

// Pairs are the tool's own. Any other Unix socket can be connected to a path, which Landlock up to ABI 7 does not look at:
// docker.sock, ssh-agent, the system bus. A datagram pair can be connected elsewhere later.
inline constexpr std::uint32_t kSequenced = 5;
inline constexpr auto kPairs =
    std::to_array<Clause>({Clause(kAllow, equals(0, kUnix), masked(1, kSocketType, kStream)),
                           Clause(kAllow, equals(0, kUnix), masked(1, kSocketType, kSequenced))});

// Another process's limits and scheduling are open to whoever has the same user, the gate's owner among them.
inline constexpr auto kOnlySelf = std::to_array<Clause>({Clause(kAllow, equals(0, 0))});
inline constexpr auto kOnlyOwnPriority =
    std::to_array<Clause>({Clause(kAllow, equals(0, 0), equals(1, 0))});  // PRIO_PROCESS
inline constexpr auto kOnlyOwnIoPriority =
    std::to_array<Clause>({Clause(kAllow, equals(0, 1), equals(1, 0))});  // IOPRIO_WHO_PROCESS

// Terminals and pipes, how much there is to read, copies by reference, and questions. Not FS_IOC_SETFLAGS and its kin, which
// change a file that is only open for reading. ENOTTY: what a file says to a request it does not know.
inline constexpr auto kControl = std::to_array<Clause>({
    Clause(EPERM, equals(1, 0x5412)),               // TIOCSTI
    Clause(EPERM, equals(1, 0x541C)),               // TIOCLINUX
    Clause(EPERM, equals(1, 0x5423)),               // TIOCSETD
    Clause(kAllow, masked(1, 0xffffff00, 0x5400)),  // the others of 'T': TCGETS, FIONREAD, FIOCLEX …
    Clause(kAllow, equals(1, 0x40049409)),          // FICLONE
    Clause(kAllow, equals(1, 0x4020940d)),          // FICLONERANGE
    Clause(kAllow, equals(1, 0x80086601)),          // FS_IOC_GETFLAGS
    Clause(kAllow, equals(1, 0xc020660b)),          // FS_IOC_FIEMAP
});

inline constexpr auto kOnSharedHost = std::to_array<Rule>({
    {"chmod", EPERM, kAskUnlessSetId<1>},
    {"fchmod", EPERM, kAskUnlessSetId<1>},
    {"fchmodat", EPERM, kAskUnlessSetId<2>},
    {"chown", kAsk},
    {"fchown", kAsk},
    {"fchownat", kAsk},
    {"lchown", kAsk},
    {"utimensat", kAsk},
    // Their newer forms are above.
    {"utime", ENOSYS},
    {"utimes", ENOSYS},
    {"futimesat", ENOSYS},
    // As a file system without attributes says.
    {"setxattr", EOPNOTSUPP},
    {"lsetxattr", EOPNOTSUPP},
    {"fsetxattr", EOPNOTSUPP},
    {"removexattr", EOPNOTSUPP},
    {"lremovexattr", EOPNOTSUPP},
    {"fremovexattr", EOPNOTSUPP},
    // A watch tells the names of files that come and go in a directory that cannot be listed.
    {"inotify_add_watch", EACCES},
    {"ioctl", ENOTTY, kControl},
    {"socket", EAFNOSUPPORT},
    {"socketpair", EAFNOSUPPORT, kPairs},
    // The ipc namespace is the host's.
    {"mq_getsetattr", ENOSYS},
    {"mq_notify", ENOSYS},
    {"mq_open", ENOSYS},
    {"mq_timedreceive", ENOSYS},
    {"mq_timedsend", ENOSYS},
    {"mq_unlink", ENOSYS},
    {"msgctl", ENOSYS},
    {"msgget", ENOSYS},
    {"msgrcv", ENOSYS},
    {"msgsnd", ENOSYS},
    {"semctl", ENOSYS},
    {"semget", ENOSYS},
    {"semop", ENOSYS},
    {"semtimedop", ENOSYS},
    {"shmat", ENOSYS},
    {"shmctl", ENOSYS},
    {"shmdt", ENOSYS},
    {"shmget", ENOSYS},
    {"prlimit64", EPERM, kOnlySelf},
    {"sched_setaffinity", EPERM, kOnlySelf},
    {"sched_setattr", EPERM, kOnlySelf},
    {"sched_setparam", EPERM, kOnlySelf},
    {"sched_setscheduler", EPERM, kOnlySelf},
    {"setpriority", EPERM, kOnlyOwnPriority},
    {"ioprio_set", EPERM, kOnlyOwnIoPriority},
});

}  // namespace sallyport::seccomp
