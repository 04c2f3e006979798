// What of a seccomp program depends on the processor: its ABI's number and the numbers of calls. For programs that are put together
// here; the generated ones (generate.cc) ask libseccomp.
#pragma once

#include <cstdint>

namespace sallyport::seccomp {

#if defined(__x86_64__)
inline constexpr std::uint32_t kNativeArchitecture = 0xc000003e;  // AUDIT_ARCH_X86_64
enum CallNumber : std::uint32_t {
  kSocketCall = 41,
  kSendTo = 44,
  kSendMessage = 46,
  kSocketPairCall = 53,
  kSetSocketOption = 54,
  kPtraceCall = 101,
  kSplice = 275,
  kSendMessages = 307,
};
#elif defined(__aarch64__)
inline constexpr std::uint32_t kNativeArchitecture = 0xc00000b7;  // AUDIT_ARCH_AARCH64
enum CallNumber : std::uint32_t {
  kSplice = 76,
  kPtraceCall = 117,
  kSocketCall = 198,
  kSocketPairCall = 199,
  kSendTo = 206,
  kSetSocketOption = 208,
  kSendMessage = 211,
  kSendMessages = 269,
};
#else
#error "TODO(port): add the processor's numbers"
#endif

}  // namespace sallyport::seccomp
