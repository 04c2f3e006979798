// Compiles rules with numbers to a program for the kernel's classic BPF machine. Our own compiler: libseccomp cannot
// put "these arguments are allowed, this errno otherwise" and another errno for unknown calls into one program, and
// bwrap accepts one program (docs/adr/0018).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/seccomp/rule.h"

namespace sallyport::seccomp {

// struct sock_filter.
struct Instruction {
  std::uint16_t code = 0;
  std::uint8_t if_true = 0;
  std::uint8_t if_false = 0;
  std::uint32_t operand = 0;
  bool operator==(const Instruction&) const = default;
};

// The only operations that the program uses. The kernel understands all of them when it precomputes its bitmap of calls
// that are always allowed.
inline constexpr std::uint16_t kLoad = 0x20;         // BPF_LD | BPF_W | BPF_ABS
inline constexpr std::uint16_t kAnd = 0x54;          // BPF_ALU | BPF_AND | BPF_K
inline constexpr std::uint16_t kJump = 0x05;         // BPF_JMP | BPF_JA
inline constexpr std::uint16_t kJumpEqual = 0x15;    // BPF_JMP | BPF_JEQ | BPF_K
inline constexpr std::uint16_t kJumpAtLeast = 0x35;  // BPF_JMP | BPF_JGE | BPF_K
inline constexpr std::uint16_t kReturn = 0x06;       // BPF_RET | BPF_K

// struct seccomp_data.
inline constexpr std::uint32_t kNumberAt = 0;
inline constexpr std::uint32_t kArchitectureAt = 4;
[[nodiscard]] std::uint32_t argument_at(unsigned index);  // of its low half

inline constexpr std::uint32_t kReturnAllow = 0x7fff0000U;  // SECCOMP_RET_ALLOW
inline constexpr std::uint32_t kReturnErrno = 0x00050000U;  // SECCOMP_RET_ERRNO
inline constexpr std::uint32_t kReturnAsk = 0x7fc00000U;    // SECCOMP_RET_USER_NOTIF

struct NumberedRule {
  std::uint32_t number = 0;
  Rule rule;
};

// Calls of another architecture and numbers without a rule get ENOSYS. `rules` are sorted by number, each once.
[[nodiscard]] std::vector<Instruction> compile(std::uint32_t architecture, std::span<const NumberedRule> rules);

}  // namespace sallyport::seccomp
