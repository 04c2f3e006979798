#include "core/seccomp/tracing.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <seccomp.h>

#include <cerrno>

#include "core/seccomp/emulate.h"
#include "core/seccomp/program.h"

namespace sallyport::seccomp {
namespace {

std::optional<int> answer(std::string_view program, const char* call, std::uint32_t architecture) {
  const int number = seccomp_syscall_resolve_name(call);
  return emulate(instructions_of(program),
                 {.number = static_cast<std::uint32_t>(number), .architecture = architecture});
}

TEST(Tracing, LetsPtraceThroughAndNothingElse_C22) {
  const std::string traced = with_tracing(program());
  const std::uint32_t native = seccomp_arch_native() == SCMP_ARCH_AARCH64 ? AUDIT_ARCH_AARCH64 : AUDIT_ARCH_X86_64;
  EXPECT_EQ(answer(program(), "ptrace", native), EPERM) << "the control: refused without the rule";
  EXPECT_EQ(answer(traced, "ptrace", native), answer(program(), "read", native)) << "allowed";
  for (const char* call :
       {"process_vm_readv", "process_vm_writev", "pidfd_getfd", "mount", "unshare", "bpf", "setns"}) {
    EXPECT_EQ(answer(traced, call, native), EPERM) << call;
  }
}

TEST(Tracing, OtherAbisStayShut_C22) {
  const std::string traced = with_tracing(program());
  for (const std::uint32_t architecture : {std::uint32_t{AUDIT_ARCH_I386}, std::uint32_t{AUDIT_ARCH_ARM}}) {
    for (const std::uint32_t number : {26U, 101U, 117U}) {
      const Call call{.number = number, .architecture = architecture};
      EXPECT_EQ(emulate(instructions_of(traced), call), ENOSYS) << number;
    }
  }
}

}  // namespace
}  // namespace sallyport::seccomp
