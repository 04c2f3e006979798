#include "core/seccomp/unix_sockets.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>

#include "core/seccomp/compile.h"
#include "core/seccomp/processor.h"

namespace sallyport::seccomp {
namespace {

// struct seccomp_data, little endian: the low halves of the arguments, which are all the kernel reads of an int.
constexpr std::uint32_t kFamily = 16;
constexpr std::uint32_t kType = 24;
static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kUnix = 1;
constexpr std::uint32_t kStream = 1;
constexpr std::uint32_t kSequenced = 5;
constexpr std::uint32_t kTypeMask = 0xf;  // the rest are SOCK_CLOEXEC and SOCK_NONBLOCK
constexpr std::uint32_t kRefuse = kReturnErrno | EAFNOSUPPORT;

// Jumps count from the next instruction. Calls that this rule does not decide fall through to the program after it,
// whose jumps are relative too, and which refuses all calls of other ABIs (i386, x32).
constexpr auto kRule = std::to_array<Instruction>({
    {kLoad, 0, 0, kArchitectureAt},
    {kJumpEqual, 0, 12, kNativeArchitecture},
    {kLoad, 0, 0, kNumberAt},
    {kJumpEqual, 1, 0, kSocketCall},
    {kJumpEqual, 2, 9, kSocketPairCall},
    {kLoad, 0, 0, kFamily},  // of socket
    {kJumpEqual, 6, 7, kUnix},
    {kLoad, 0, 0, kFamily},  // of socketpair
    {kJumpEqual, 0, 5, kUnix},
    {kLoad, 0, 0, kType},
    {kAnd, 0, 0, kTypeMask},
    {kJumpEqual, 2, 0, kStream},
    {kJumpEqual, 1, 0, kSequenced},
    {kReturn, 0, 0, kRefuse},
});

}  // namespace

std::string without_unix_sockets(std::string_view program) {
  std::string whole(reinterpret_cast<const char*>(kRule.data()), sizeof kRule);
  whole += program;
  return whole;
}

}  // namespace sallyport::seccomp
