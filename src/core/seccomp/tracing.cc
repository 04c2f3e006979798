#include "core/seccomp/tracing.h"

#include <array>

#include "core/seccomp/compile.h"
#include "core/seccomp/processor.h"

namespace sallyport::seccomp {

std::string with_tracing(std::string_view program) {
  // Checks the ABI first: in another ABI the number means another call, and a rule that allows must be exact.
  constexpr std::array<Instruction, 5> kRule = {
      Instruction{kLoad, 0, 0, kArchitectureAt}, Instruction{kJumpEqual, 0, 3, kNativeArchitecture},
      Instruction{kLoad, 0, 0, kNumberAt}, Instruction{kJumpEqual, 0, 1, kPtraceCall},
      Instruction{kReturn, 0, 0, kReturnAllow}};
  std::string whole(reinterpret_cast<const char*>(kRule.data()), sizeof kRule);
  return whole.append(program);
}

}  // namespace sallyport::seccomp
