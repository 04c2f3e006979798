#include "core/seccomp/unix_sockets.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace sallyport::seccomp {
namespace {

constexpr std::uint32_t kBehind = 0x7fff0000;  // the answer of the program after the rule

// Enough of classic BPF for the rule and a single return after it.
std::uint32_t judge(const seccomp_data& data) {
  const sock_filter behind = BPF_STMT(BPF_RET | BPF_K, kBehind);
  const std::string bytes =
      without_unix_sockets(std::string_view(reinterpret_cast<const char*>(&behind), sizeof behind));
  std::vector<sock_filter> program(bytes.size() / sizeof(sock_filter));
  std::memcpy(program.data(), bytes.data(), bytes.size());
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& step = program[at];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + step.k, sizeof accumulator);
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += accumulator == step.k ? step.jt : step.jf;
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= step.k;
        break;
      case BPF_RET | BPF_K:
        return step.k;
      default:
        ADD_FAILURE() << "unknown instruction " << step.code;
        return 0;
    }
  }
  ADD_FAILURE() << "the program has no end";
  return 0;
}

std::uint32_t call(long number, std::uint64_t family, std::uint64_t type) {
#if defined(__aarch64__)
  constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
  constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#endif
  return judge(
      {.nr = static_cast<int>(number), .arch = kArchitecture, .instruction_pointer = 0, .args = {family, type}});
}

constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EAFNOSUPPORT;

TEST(WithoutUnixSockets, RefusesWhateverCouldBeSentToAPath) {
  for (const int type :
       std::initializer_list<int>{SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW, SOCK_STREAM | SOCK_CLOEXEC}) {
    EXPECT_EQ(call(__NR_socket, AF_UNIX, static_cast<unsigned>(type)), kRefused) << type;
  }
  for (const int type :
       std::initializer_list<int>{SOCK_DGRAM, SOCK_RAW, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}) {
    EXPECT_EQ(call(__NR_socketpair, AF_UNIX, static_cast<unsigned>(type)), kRefused) << type;
  }
  // The kernel reads 32 bits of each argument.
  EXPECT_EQ(call(__NR_socket, 0xffffffff00000001, SOCK_STREAM), kRefused);
  EXPECT_EQ(call(__NR_socketpair, 0x100000001, 0x700000000 | SOCK_DGRAM), kRefused);
}

TEST(WithoutUnixSockets, LeavesTheRestToTheProgramBehind) {
  EXPECT_EQ(call(__NR_socket, AF_INET, SOCK_DGRAM), kBehind);
  EXPECT_EQ(call(__NR_socket, AF_NETLINK, SOCK_RAW), kBehind);
  EXPECT_EQ(call(__NR_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC), kBehind);
  EXPECT_EQ(call(__NR_socketpair, AF_UNIX, SOCK_SEQPACKET), kBehind);
  EXPECT_EQ(call(__NR_read, AF_UNIX, 0), kBehind);
  EXPECT_EQ(judge({.nr = __NR_socket, .arch = AUDIT_ARCH_I386, .instruction_pointer = 0, .args = {AF_UNIX}}), kBehind);
}

}  // namespace
}  // namespace sallyport::seccomp
