// The rules that differ when the tool shares the host's namespaces: no mount, network, ipc or pid namespace bounds a
// call there, only Landlock (jails/landlock). Each of these calls reaches something that Landlock does not check.
#pragma once

#include <array>
#include <cerrno>

#include "core/seccomp/arguments.h"
#include "core/seccomp/rule.h"

namespace sallyport::seccomp {

// Landlock has no right for a file's mode, owner and times, and a file's owner may change them. So the filter asks the
// worker, which makes the change only for a file in a writable place.
template <unsigned kMode>
inline constexpr auto kAskUnlessSetId = std::to_array<Clause>({Clause(kAsk, none_of(kMode, kSetId))});

// Socket pairs stay inside the tool. Any other Unix socket can connect to a path, which Landlock up to ABI 7 does not
// check: docker.sock, ssh-agent, the system bus. A datagram pair could connect elsewhere later.
inline constexpr std::uint32_t kSequenced = 5;
inline constexpr auto kPairs =
    std::to_array<Clause>({Clause(kAllow, equals(0, kUnix), masked(1, kSocketType, kStream)),
                           Clause(kAllow, equals(0, kUnix), masked(1, kSocketType, kSequenced))});

// A process may change the limits and scheduling of any process of the same user, so also of the gate's owner.
inline constexpr auto kOnlySelf = std::to_array<Clause>({Clause(kAllow, equals(0, 0))});
inline constexpr auto kOnlyOwnPriority =
    std::to_array<Clause>({Clause(kAllow, equals(0, 0), equals(1, 0))});  // PRIO_PROCESS
inline constexpr auto kOnlyOwnIoPriority =
    std::to_array<Clause>({Clause(kAllow, equals(0, 1), equals(1, 0))});  // IOPRIO_WHO_PROCESS

// Allows terminals and pipes, FIONREAD, copies by reference, and queries. Not FS_IOC_SETFLAGS and similar, which change
// a file that is open only for reading. ENOTTY is a file's answer to an unknown request.
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
    // The answer of a file system without attributes.
    {"setxattr", EOPNOTSUPP},
    {"lsetxattr", EOPNOTSUPP},
    {"fsetxattr", EOPNOTSUPP},
    {"removexattr", EOPNOTSUPP},
    {"lremovexattr", EOPNOTSUPP},
    {"fremovexattr", EOPNOTSUPP},
    // A watch would report the names of files that come and go in a directory that the tool cannot list.
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
