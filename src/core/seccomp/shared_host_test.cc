// The program for a tool that shares the host's namespaces: it refuses everything that the usual program refuses, and
// more (C22, C40).
#include "core/seccomp/shared_host.h"

#include <gtest/gtest.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

#include <array>
#include <initializer_list>
#include <vector>

#include "core/seccomp/emulate.h"
#include "core/seccomp/numbers.h"
#include "core/seccomp/program.h"

namespace sallyport::seccomp {
namespace {

constexpr std::uint64_t kHighBits = 0xffffffff00000000;

long number_of(const char* call) { return seccomp_syscall_resolve_name_arch(seccomp_arch_native(), call); }

int answer_to(std::string_view program, long number, std::array<std::uint64_t, 6> arguments = {}) {
  const std::vector<Instruction> instructions = instructions_of(program);
  const std::optional<int> answer = emulate(
      instructions,
      {.number = static_cast<std::uint32_t>(number), .architecture = seccomp_arch_native(), .arguments = arguments});
  EXPECT_TRUE(answer) << "call " << number;
  return answer.value_or(-1000);
}
int on_shared_host(long number, std::array<std::uint64_t, 6> arguments = {}) {
  return answer_to(program_on_shared_host(), number, arguments);
}

TEST(SharedHost, SaysWhatItsRulesSay_C22) {
  for (const NumberedRule& numbered : numbered_rules(seccomp_arch_native(), kOnSharedHost)) {
    for (const std::uint64_t first : {0UL, 1UL, 2UL, 16UL, 0xffffffffUL, kHighBits | 1}) {
      for (const std::uint64_t second : {0UL, 1UL, 2UL, 5UL, 0x5401UL, 0x5412UL, 0x40086602UL, 06000UL}) {
        const std::array<std::uint64_t, 6> arguments = {first, second, second, first, 0, 0};
        EXPECT_EQ(on_shared_host(numbered.number, arguments), answer_of(numbered.rule, arguments))
            << numbered.rule.call << " " << first << " " << second;
      }
    }
  }
}

// It refuses whatever the usual program refuses: its rules only restrict.
TEST(SharedHost, AllowsNothingThatTheUsualProgramRefuses_C22) {
  constexpr long kHighestCall = 600;
  for (long number = 0; number < kHighestCall; ++number) {
    for (const std::uint64_t first : {0UL, 1UL, 2UL, 10UL, 16UL}) {
      for (const std::uint64_t second : {0UL, 1UL, 2UL, 3UL, 5UL, 0x5412UL, 0x541cUL, 0x5423UL, 04000UL, 02000UL}) {
        const std::array<std::uint64_t, 6> arguments = {first, second, second, 0, 0, 0};
        if (answer_to(program(), number, arguments) == kAllow) continue;
        EXPECT_NE(on_shared_host(number, arguments), kAllow) << number << " " << first << " " << second;
        EXPECT_NE(on_shared_host(number, arguments), kAsk) << number << " " << first << " " << second;
      }
    }
  }
}

TEST(SharedHost, AsksAboutMetadataAndNeverAboutSetId_C41) {
  for (const long call : {number_of("chmod"), number_of("fchmod"), number_of("chown"), number_of("lchown"),
                          number_of("fchown"), number_of("fchownat"), number_of("utimensat")}) {
    EXPECT_EQ(on_shared_host(call, {0, 0755}), kAsk) << call;
  }
  EXPECT_EQ(on_shared_host(number_of("fchmodat"), {0, 0, 0644}), kAsk);
  EXPECT_EQ(on_shared_host(number_of("chmod"), {0, 04755}), EPERM);
  EXPECT_EQ(on_shared_host(number_of("fchmod"), {0, kHighBits | 02755}), EPERM);
  EXPECT_EQ(on_shared_host(number_of("fchmodat"), {0, 0, 06000}), EPERM);
}

TEST(SharedHost, HasNoSocketsButPairs_C24) {
  for (const std::uint64_t family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_VSOCK, AF_PACKET}) {
    EXPECT_EQ(on_shared_host(number_of("socket"), {family, SOCK_STREAM, 0}), EAFNOSUPPORT) << family;
  }
  EXPECT_EQ(on_shared_host(number_of("socketpair"), {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0}), kAllow);
  EXPECT_EQ(on_shared_host(number_of("socketpair"), {AF_UNIX, SOCK_SEQPACKET, 0}), kAllow);
  EXPECT_EQ(on_shared_host(number_of("socketpair"), {AF_UNIX, SOCK_DGRAM, 0}), EAFNOSUPPORT);
  EXPECT_EQ(on_shared_host(number_of("socketpair"), {kHighBits | AF_UNIX, kHighBits | SOCK_DGRAM, 0}), EAFNOSUPPORT);
}

int with_tcp(long number, std::array<std::uint64_t, 6> arguments = {}) {
  return answer_to(program_on_shared_host_with_tcp(), number, arguments);
}

TEST(SharedHostWithTcp, SaysWhatItsRulesSay_C22_C24) {
  for (const NumberedRule& numbered : numbered_rules(seccomp_arch_native(), with_tcp_on_shared_host())) {
    for (const std::uint64_t first : {0UL, 1UL, 2UL, 10UL, 0x20000000UL, kHighBits | 2}) {
      for (const std::uint64_t second : {0UL, 1UL, 2UL, 6UL, 30UL, 0x20000000UL, 0x80801UL}) {
        const std::array<std::uint64_t, 6> arguments = {first, second, second, first, 0, 0};
        EXPECT_EQ(with_tcp(numbered.number, arguments), answer_of(numbered.rule, arguments))
            << numbered.rule.call << " " << first << " " << second;
      }
    }
  }
}

// Where the program without TCP refuses, this one at most asks.
TEST(SharedHostWithTcp, LetsNothingMoreGoOn_C24) {
  for (long number = 0; number < 600; ++number) {
    for (const std::uint64_t first : {0UL, 1UL, 2UL, 10UL, 16UL, 40UL}) {
      for (const std::uint64_t second : {0UL, 1UL, 2UL, 3UL, 5UL, 0x5412UL, 0x80801UL}) {
        const std::array<std::uint64_t, 6> arguments = {first, second, second, 0, 0, 0};
        if (on_shared_host(number, arguments) == kAllow) continue;
        EXPECT_NE(with_tcp(number, arguments), kAllow) << number << " " << first << " " << second;
      }
    }
  }
}

TEST(SharedHostWithTcp, AsksForTcpAndKnowsNoOtherSocket_C24) {
  for (const std::uint64_t family : {AF_INET, AF_INET6}) {
    EXPECT_EQ(with_tcp(number_of("socket"), {family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}), kAsk);
    EXPECT_EQ(with_tcp(number_of("socket"), {kHighBits | family, SOCK_STREAM, 6}), kAsk) << "the kernel reads 32 bits";
    EXPECT_EQ(with_tcp(number_of("socket"), {family, SOCK_STREAM, 262}), EPROTONOSUPPORT) << "MPTCP";
    for (const std::uint64_t type : {SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
      EXPECT_EQ(with_tcp(number_of("socket"), {family, type, 0}), EAFNOSUPPORT) << type;
    }
  }
  for (const std::uint64_t family : {AF_UNIX, AF_NETLINK, AF_VSOCK, AF_PACKET, AF_ALG}) {
    EXPECT_EQ(with_tcp(number_of("socket"), {family, SOCK_STREAM, 0}), EAFNOSUPPORT) << family;
  }
  EXPECT_EQ(with_tcp(number_of("connect")), kAsk);
  EXPECT_EQ(with_tcp(number_of("bind")), EACCES);
  EXPECT_EQ(with_tcp(number_of("listen")), EACCES);
}

// Fast open would connect in a call about which the filter does not ask.
TEST(SharedHostWithTcp, ConnectsByNoOtherCall_C24) {
  EXPECT_EQ(with_tcp(number_of("sendto"), {0, 0, 0, MSG_NOSIGNAL}), kAllow);
  EXPECT_EQ(with_tcp(number_of("sendto"), {0, 0, 0, MSG_FASTOPEN | MSG_NOSIGNAL}), EOPNOTSUPP);
  EXPECT_EQ(with_tcp(number_of("sendmsg"), {0, 0, MSG_NOSIGNAL}), kAllow);
  EXPECT_EQ(with_tcp(number_of("sendmsg"), {0, 0, kHighBits | MSG_FASTOPEN}), EOPNOTSUPP);
  EXPECT_EQ(with_tcp(number_of("sendmmsg"), {0, 0, 0, MSG_FASTOPEN}), EOPNOTSUPP);
  EXPECT_EQ(with_tcp(number_of("setsockopt"), {0, IPPROTO_TCP, TCP_NODELAY}), kAllow);
  EXPECT_EQ(with_tcp(number_of("setsockopt"), {0, SOL_SOCKET, SO_KEEPALIVE}), kAllow);
  for (const std::uint64_t option : {TCP_FASTOPEN_CONNECT, TCP_FASTOPEN, TCP_ULP, TCP_REPAIR}) {
    EXPECT_EQ(with_tcp(number_of("setsockopt"), {0, IPPROTO_TCP, option}), ENOPROTOOPT) << option;
  }
  for (const std::uint64_t option : {SO_BINDTODEVICE, SO_SNDBUF, SO_RCVBUF, SO_MARK, SO_ATTACH_FILTER}) {
    EXPECT_EQ(with_tcp(number_of("setsockopt"), {0, SOL_SOCKET, option}), ENOPROTOOPT) << option;
  }
}

TEST(SharedHost, LetsNobodyLimitAnotherProcess) {
  EXPECT_EQ(on_shared_host(number_of("prlimit64"), {0}), kAllow);
  EXPECT_EQ(on_shared_host(number_of("prlimit64"), {1234}), EPERM);
  EXPECT_EQ(on_shared_host(number_of("prlimit64"), {kHighBits}), kAllow) << "the kernel reads 32 bits";
  EXPECT_EQ(on_shared_host(number_of("setpriority"), {0, 1234}), EPERM);
  EXPECT_EQ(on_shared_host(number_of("sched_setaffinity"), {1234}), EPERM);
}

TEST(SharedHost, KnowsTheRequestsThatFilesNeedAndNoOther) {
  for (const unsigned long request : std::initializer_list<unsigned long>{
           TCGETS, FIONREAD, FIOCLEX, FICLONE, FICLONERANGE, FS_IOC_GETFLAGS, FS_IOC_FIEMAP}) {
    EXPECT_EQ(on_shared_host(number_of("ioctl"), {0, request}), kAllow) << std::hex << request;
  }
  for (const unsigned long request :
       std::initializer_list<unsigned long>{FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, FS_IOC_SETFSLABEL}) {
    EXPECT_EQ(on_shared_host(number_of("ioctl"), {0, request}), ENOTTY) << std::hex << request;
  }
  EXPECT_EQ(on_shared_host(number_of("ioctl"), {0, TIOCSTI}), EPERM);
  EXPECT_EQ(on_shared_host(number_of("ioctl"), {0, kHighBits | TIOCSTI}), EPERM);
}

}  // namespace
}  // namespace sallyport::seccomp
