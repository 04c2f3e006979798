#include "core/seccomp/tracing.h"

#include <array>
#include <cstdint>

#include "core/seccomp/compile.h"

namespace sallyport::seccomp {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kPtraceCall = 101;
constexpr std::uint32_t kNativeAbi = 0xc000003e;  // AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
constexpr std::uint32_t kPtraceCall = 117;
constexpr std::uint32_t kNativeAbi = 0xc00000b7;  // AUDIT_ARCH_AARCH64
#endif
constexpr std::uint32_t kAbiAt = 4;  // in struct seccomp_data
constexpr std::uint32_t kLetThrough = 0x7fff0000;

}  // namespace

std::string with_tracing(std::string_view program) {
  // Checks the ABI first: in another ABI the number means another call, and a rule that allows must be exact.
  constexpr std::array<Instruction, 5> kRule = {
      Instruction{kLoad, 0, 0, kAbiAt}, Instruction{kJumpEqual, 0, 3, kNativeAbi}, Instruction{kLoad, 0, 0, kNumberAt},
      Instruction{kJumpEqual, 0, 1, kPtraceCall}, Instruction{kReturn, 0, 0, kLetThrough}};
  std::string whole(reinterpret_cast<const char*>(kRule.data()), sizeof kRule);
  return whole.append(program);
}

}  // namespace sallyport::seccomp
