// The filter as the kernel would run it (C22): the emulator runs the very bytes that are installed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <random>
#include <set>
#include <string>

#include "core/seccomp/emulate.h"
#include "core/seccomp/numbers.h"
#include "core/seccomp/program.h"

namespace sallyport::seccomp {
namespace {

using Arguments = std::array<std::uint64_t, 6>;

constexpr std::uint64_t kUpperHalf = 0xdeadbeef00000000ULL;
constexpr std::uint32_t kNobodysNumber = 0x7fffffff;

// The numbers in arguments.h are those of the kernel's headers.
static_assert(kMayCreate == (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)));
static_assert(kSetId == (S_ISUID | S_ISGID) && kFileType == S_IFMT);
static_assert(kNamespaceFlags == (CLONE_NEWTIME | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                  CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET));
static_assert(kUnix == AF_UNIX && kInet == AF_INET && kInet6 == AF_INET6 && kNetlink == AF_NETLINK);
static_assert(kStream == SOCK_STREAM && kDatagram == SOCK_DGRAM && kRaw == SOCK_RAW);
static_assert(PR_SET_SPECULATION_CTRL == 53 && PR_SET_NO_NEW_PRIVS == 38 && PR_SET_PTRACER == 0x59616d61);
static_assert(F_SETLEASE == 1024 && TIOCSTI == 0x5412 && TIOCLINUX == 0x541C && TIOCSETD == 0x5423);

class Filter : public testing::Test {
 protected:
  [[nodiscard]] int ask(std::uint32_t number, const Arguments& arguments = {}) const {
    return ask_as(architecture_, number, arguments);
  }
  [[nodiscard]] int ask(const char* name, const Arguments& arguments = {}) const {
    const int number = seccomp_syscall_resolve_name_arch(architecture_, name);
    EXPECT_GE(number, 0) << name;
    return ask(static_cast<std::uint32_t>(number), arguments);
  }
  [[nodiscard]] int ask_as(std::uint32_t architecture, std::uint32_t number, const Arguments& arguments = {}) const {
    const std::optional<int> answer =
        emulate(program_, {.number = number, .architecture = architecture, .arguments = arguments});
    EXPECT_TRUE(answer) << "the program does not answer number " << number;
    return answer.value_or(-1);
  }

  const std::uint32_t architecture_ = seccomp_arch_native();
  const std::vector<NumberedRule> rules_ = numbered_rules(architecture_);
  const std::vector<Instruction> program_ = instructions_of(program());
};

TEST_F(Filter, IsWhatTheTablesCompileTo) {
  ASSERT_FALSE(rules_.empty());
  EXPECT_EQ(program_, compile(architecture_, rules_));
}

// For every number and many arguments the program answers as the rule does. Arguments come from the values that the
// rules test, so that every branch is taken, with and without bits in the upper half.
TEST_F(Filter, SaysWhatItsRulesSay) {
  std::vector<std::uint32_t> interesting = {0, 1, 2, 0xffffffff};
  for (const Rule& rule : kByArguments) {
    for (const Clause& clause : rule.clauses) {
      for (const Condition& condition : clause.conditions) {
        interesting.insert(interesting.end(),
                           {condition.value, condition.mask, condition.mask | condition.value, condition.value + 1});
      }
    }
  }
  std::mt19937_64 random(20260117);
  const auto pick = [&] { return std::uint64_t{interesting[random() % interesting.size()]}; };
  for (std::uint32_t number = 0; number < 1024; ++number) {
    const auto known = std::ranges::find(rules_, number, &NumberedRule::number);
    const bool plain = known == rules_.end() || known->rule.clauses.empty();
    for (int round = 0; round < (plain ? 4 : 4000); ++round) {
      Arguments arguments{};
      for (std::uint64_t& argument : arguments) {
        argument = (random() % 4 == 0 ? random() : pick()) | (random() % 2 == 0 ? kUpperHalf : 0);
      }
      const int expected = known == rules_.end() ? ENOSYS : answer_of(known->rule, arguments);
      ASSERT_EQ(ask(number, arguments), expected) << "number " << number;
    }
  }
}

TEST_F(Filter, AnswersCallsItDoesNotKnowWithENOSYS_C22) {
  for (std::uint32_t number = 450; number <= 600; ++number) EXPECT_EQ(ask(number), ENOSYS) << number;
  for (const std::uint32_t number : {1024U, 0xffffU, kNobodysNumber, 0x80000000U, 0xffffffffU}) {
    EXPECT_EQ(ask(number), ENOSYS) << number;
  }
}

TEST_F(Filter, KnowsNoOtherAbi_C22) {
  for (std::uint32_t number = 0; number < 600; ++number) {
    EXPECT_EQ(ask_as(SCMP_ARCH_X86, number), ENOSYS) << number;
    EXPECT_EQ(ask_as(SCMP_ARCH_ARM, number), ENOSYS) << number;
    EXPECT_EQ(ask(0x40000000U | number), ENOSYS) << "x32 " << number;
  }
  EXPECT_EQ(ask_as(0, 0), ENOSYS);
}

TEST_F(Filter, RefusesWhatTheContractNames_C22) {
  for (const char* name : {"mount",
                           "umount2",
                           "pivot_root",
                           "chroot",
                           "unshare",
                           "setns",
                           "open_tree",
                           "move_mount",
                           "fsopen",
                           "fsconfig",
                           "fsmount",
                           "fspick",
                           "mount_setattr",
                           "ptrace",
                           "process_vm_readv",
                           "process_vm_writev",
                           "pidfd_getfd",
                           "process_madvise",
                           "kcmp",
                           "bpf",
                           "perf_event_open",
                           "userfaultfd",
                           "keyctl",
                           "add_key",
                           "request_key",
                           "kexec_load",
                           "kexec_file_load",
                           "open_by_handle_at",
                           "syslog",
                           "init_module",
                           "reboot"}) {
    EXPECT_EQ(ask(name), EPERM) << name;
  }
  for (const char* name : {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_secret", "openat2",
                           "io_setup", "io_submit", "remap_file_pages", "uselib", "ustat", "sysfs", "mbind"}) {
    EXPECT_EQ(ask(name), ENOSYS) << name;
  }
  constexpr std::uint32_t kFchmodat2 = 452;
  constexpr std::uint32_t kSetxattrat = 463;
  constexpr std::uint32_t kOpenTreeAttr = 467;
  constexpr std::uint32_t kFileSetattr = 469;
  for (const std::uint32_t number : {kFchmodat2, kSetxattrat, kOpenTreeAttr, kFileSetattr}) {
    EXPECT_EQ(ask(number), ENOSYS) << number;
  }
}

// The control for the refusals: the filter allows what every program needs, with any arguments.
TEST_F(Filter, LetsThroughWhatEveryProgramNeeds) {
  for (const char* name : kAllowed) {
    if (seccomp_syscall_resolve_name_arch(architecture_, name) < 0) continue;
    EXPECT_EQ(ask(name), kAllow) << name;
    EXPECT_EQ(ask(name, {~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL}), kAllow) << name;
  }
  EXPECT_EQ(ask("openat", {0, 0, O_RDONLY}), kAllow);
  EXPECT_EQ(ask("clone", {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD}), kAllow);
}

TEST_F(Filter, RefusesEveryNamespaceFlagOfClone_C22) {
  for (std::uint64_t bit = 1; bit <= 0x80000000ULL; bit <<= 1U) {
    const int expected = (kNamespaceFlags & bit) != 0 ? EPERM : kAllow;
    EXPECT_EQ(ask("clone", {bit}), expected) << std::hex << bit;
    EXPECT_EQ(ask("clone", {bit | kUpperHalf}), expected) << std::hex << bit;
  }
}

TEST_F(Filter, RefusesSetIdModes_C41) {
  for (const std::uint64_t upper : {std::uint64_t{0}, kUpperHalf, std::uint64_t{0xffff0000}}) {
    for (const std::uint64_t mode : {04755, 02755, 06755, 04000, 02000}) {
      const std::uint64_t word = mode | upper;
      EXPECT_EQ(ask("chmod", {0, word}), EPERM);
      EXPECT_EQ(ask("fchmod", {0, word}), EPERM);
      EXPECT_EQ(ask("fchmodat", {0, 0, word}), EPERM);
      EXPECT_EQ(ask("creat", {0, word}), EPERM);
      EXPECT_EQ(ask("mkdir", {0, word}), EPERM);
      EXPECT_EQ(ask("mkdirat", {0, 0, word}), EPERM);
      EXPECT_EQ(ask("mknod", {0, word | S_IFREG}), EPERM);
      EXPECT_EQ(ask("mknodat", {0, 0, word | S_IFREG}), EPERM);
      for (const std::uint64_t flags : {O_CREAT | O_WRONLY, O_TMPFILE | O_RDWR, O_CREAT | O_TMPFILE}) {
        EXPECT_EQ(ask("open", {0, flags | upper, word}), EPERM);
        EXPECT_EQ(ask("openat", {0, 0, flags | upper, word}), EPERM);
      }
      // When the call creates no file, the register holds no mode.
      EXPECT_EQ(ask("open", {0, O_RDONLY | O_DIRECTORY, word}), kAllow);
      EXPECT_EQ(ask("openat", {0, 0, O_RDWR | O_CLOEXEC, word}), kAllow);
    }
    for (const std::uint64_t mode : {0755, 01777, 0}) {
      EXPECT_EQ(ask("chmod", {0, mode | (upper & ~0xffffffffULL)}), kAllow);
      EXPECT_EQ(ask("openat", {0, 0, O_CREAT | O_WRONLY, mode | (upper & ~0xffffffffULL)}), kAllow);
      EXPECT_EQ(ask("mkdir", {0, mode | (upper & ~0xffffffffULL)}), kAllow);
    }
  }
}

TEST_F(Filter, LetsThroughNoDeviceNode_C41) {
  for (const std::uint64_t type : {S_IFCHR, S_IFBLK, S_IFDIR, S_IFLNK}) {
    EXPECT_EQ(ask("mknod", {0, type | 0666}), EPERM);
    EXPECT_EQ(ask("mknodat", {0, 0, type | 0666 | kUpperHalf}), EPERM);
  }
  for (const std::uint64_t type : {0, S_IFREG, S_IFIFO, S_IFSOCK}) {
    EXPECT_EQ(ask("mknod", {0, type | 0600}), kAllow);
    EXPECT_EQ(ask("mknodat", {0, 0, type | 0600}), kAllow);
  }
}

TEST_F(Filter, LetsThroughOnlySocketsOfKnownKinds) {
  constexpr std::uint64_t kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;
  constexpr std::uint64_t kMostProtocols = 300;
  for (const std::uint64_t family : {AF_INET, AF_INET6}) {
    for (std::uint64_t type = 0; type < 16; ++type) {
      for (std::uint64_t protocol = 0; protocol < kMostProtocols; ++protocol) {
        const bool fine = (type == SOCK_STREAM && (protocol == 0 || protocol == kTcp)) ||
                          (type == SOCK_DGRAM && (protocol == 0 || protocol == kUdp));
        const int expected = fine ? kAllow : type == SOCK_RAW ? EPERM : EPROTONOSUPPORT;
        ASSERT_EQ(ask("socket", {family, type | kFlags, protocol}), expected) << type << " " << protocol;
        ASSERT_EQ(ask("socket", {family | kUpperHalf, type | kUpperHalf, protocol | kUpperHalf}), expected);
      }
    }
  }
  for (std::uint64_t family = 0; family < 64; ++family) {
    if (family == AF_INET || family == AF_INET6) continue;
    const int expected = family == AF_UNIX || family == AF_NETLINK ? kAllow : EAFNOSUPPORT;
    EXPECT_EQ(ask("socket", {family, SOCK_DGRAM, 0}), expected) << family;
    EXPECT_EQ(ask("socketpair", {family, SOCK_STREAM, 0}), family == AF_UNIX ? kAllow : EAFNOSUPPORT) << family;
  }
  for (std::uint64_t protocol = 1; protocol < 32; ++protocol) {
    EXPECT_EQ(ask("socket", {AF_NETLINK, SOCK_RAW, protocol}), EPROTONOSUPPORT) << protocol;
  }
  constexpr std::uint64_t kUlp = 31;
  EXPECT_EQ(ask("setsockopt", {3, kTcp, kUlp}), ENOENT);
  EXPECT_EQ(ask("setsockopt", {3, kTcp | kUpperHalf, kUlp | kUpperHalf}), ENOENT);
  EXPECT_EQ(ask("setsockopt", {3, kTcp, 1}), kAllow);
}

TEST_F(Filter, RefusesTerminalTricksAndLeases) {
  for (const std::uint64_t request : {TIOCSTI, TIOCLINUX, TIOCSETD}) {
    EXPECT_EQ(ask("ioctl", {0, request}), EPERM);
    EXPECT_EQ(ask("ioctl", {0, request | kUpperHalf}), EPERM);
  }
  EXPECT_EQ(ask("ioctl", {0, TIOCGWINSZ}), kAllow);
  EXPECT_EQ(ask("fcntl", {0, F_SETLEASE}), EINVAL);
  EXPECT_EQ(ask("fcntl", {0, F_SETLEASE | kUpperHalf}), EINVAL);
  constexpr std::uint64_t kSetDelegation = 1040;
  EXPECT_EQ(ask("fcntl", {0, kSetDelegation}), EINVAL);
  for (const std::uint64_t command : {F_DUPFD, F_SETFL, F_SETLK, F_SETOWN, 15, 36, 37, 38, F_GETLEASE, F_NOTIFY,
                                      F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS, 1038}) {
    EXPECT_EQ(ask("fcntl", {0, command}), kAllow) << command;
  }
}

TEST_F(Filter, KeepsTheToolFromChangingInit) {
  for (const std::uint64_t upper : {std::uint64_t{0}, kUpperHalf}) {
    const std::uint64_t init = 1 | upper;
    for (const char* name :
         {"prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"}) {
      EXPECT_EQ(ask(name, {init}), EPERM) << name;
      EXPECT_EQ(ask(name, {upper}), kAllow) << name;
      EXPECT_EQ(ask(name, {2 | upper}), kAllow) << name;
    }
    EXPECT_EQ(ask("setpriority", {upper, init}), EPERM);
    EXPECT_EQ(ask("setpriority", {upper, upper}), kAllow);
    EXPECT_EQ(ask("setpriority", {1, 0}), EPERM);  // its group
    EXPECT_EQ(ask("setpriority", {2, 0}), EPERM);  // its user
    EXPECT_EQ(ask("ioprio_set", {init, init}), EPERM);
    EXPECT_EQ(ask("ioprio_set", {1, 0}), kAllow);
    EXPECT_EQ(ask("ioprio_set", {2, 0}), EPERM);
    EXPECT_EQ(ask("ioprio_set", {3, 0}), EPERM);
  }
}

TEST_F(Filter, LetsThroughOnlyHarmlessPersonalitiesAndPrctls) {
  for (const std::uint64_t persona : {0UL, 8UL, std::uint64_t{ADDR_NO_RANDOMIZE}, 0xffffffffUL, ~0UL}) {
    EXPECT_EQ(ask("personality", {persona}), kAllow) << std::hex << persona;
  }
  for (std::uint64_t bit = 1; bit <= 0x80000000ULL; bit <<= 1U) {
    if (bit == 8 || bit == ADDR_NO_RANDOMIZE) continue;
    EXPECT_EQ(ask("personality", {bit}), EPERM) << std::hex << bit;
    EXPECT_EQ(ask("personality", {bit | ADDR_NO_RANDOMIZE}), EPERM) << std::hex << bit;
  }
  for (const std::uint64_t option : {PR_SET_MM, 59 /* user dispatch */, 62 /* core scheduling */, 67 /* merging */,
                                     PR_SET_SECUREBITS, PR_MCE_KILL, 1000}) {
    EXPECT_EQ(ask("prctl", {option}), EINVAL) << option;
    EXPECT_EQ(ask("prctl", {option | kUpperHalf}), EINVAL) << option;
  }
  for (const std::uint64_t option : {PR_SET_NAME, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP}) {
    EXPECT_EQ(ask("prctl", {option}), kAllow) << option;
  }
}

// The kernel runs the program for each call that it does not know to be always allowed, so it must be short: less than
// about a tenth of the kernel's limit. If it grows past this, review it.
TEST_F(Filter, IsShort) { EXPECT_LT(program_.size(), 600U); }

}  // namespace
}  // namespace sallyport::seccomp
