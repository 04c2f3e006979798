// Runs a seccomp program as the kernel would, for tests: returns the answer to a call with these arguments.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/seccomp/compile.h"

namespace sallyport::seccomp {

// struct seccomp_data.
struct Call {
  std::uint32_t number = 0;
  std::uint32_t architecture = 0;
  std::uint64_t instruction_pointer = 0;
  std::array<std::uint64_t, 6> arguments{};
};

inline std::vector<Instruction> instructions_of(std::string_view bytes) {
  std::vector<Instruction> program(bytes.size() / sizeof(Instruction));
  std::memcpy(program.data(), bytes.data(), program.size() * sizeof(Instruction));
  return program;
}

// An errno, kAllow or kAsk; nullopt when the program runs off its end, reads outside, or has an instruction that we
// never emit.
inline std::optional<int> emulate(std::span<const Instruction> program, const Call& call) {
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const Instruction& now = program[at];
    switch (now.code) {
      case kLoad:
        if (now.operand % 4 != 0 || now.operand + 4 > sizeof call) return std::nullopt;
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&call) + now.operand, sizeof accumulator);
        break;
      case kAnd:
        accumulator &= now.operand;
        break;
      case kJump:
        at += now.operand;
        break;
      case kJumpEqual:
        at += accumulator == now.operand ? now.if_true : now.if_false;
        break;
      case kJumpAtLeast:
        at += accumulator >= now.operand ? now.if_true : now.if_false;
        break;
      case kReturn:
        if (now.operand == kReturnAllow) return kAllow;
        if (now.operand == kReturnAsk) return kAsk;
        if ((now.operand & 0xffff0000U) != kReturnErrno) return std::nullopt;
        return static_cast<int>(now.operand & 0xffffU);
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace sallyport::seccomp
