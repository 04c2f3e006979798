// Build-time tool: writes the seccomp programs as the bytes of struct sock_filter[], in C++ syntax.
//
// Allows only the native ABI. All i386 (int 0x80) and x32 calls get ENOSYS: a second table for them would need the same
// care, and the gate starts no 32-bit program (docs/adr/0009).
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/seccomp/numbers.h"

namespace sallyport::seccomp {
namespace {

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "seccomp generator: %s\n", why);
  std::_Exit(1);
}

void write_program(const std::vector<Instruction>& program, const char* path) {
  FILE* out = std::fopen(path, "w");
  if (out == nullptr) give_up(path);
  static_assert(sizeof(Instruction) == 8);
  for (const Instruction& instruction : program) {
    unsigned char bytes[sizeof instruction];
    std::memcpy(bytes, &instruction, sizeof instruction);
    for (const unsigned char byte : bytes) std::fprintf(out, "0x%02x, ", byte);
    std::fputc('\n', out);
  }
  if (std::fclose(out) != 0) give_up(path);
}

void generate_one(std::uint32_t architecture, std::span<const Rule> instead, const char* path) {
  const std::vector<NumberedRule> rules = numbered_rules(architecture, instead);
  if (rules.empty()) give_up("the table is not sound");
  const std::vector<Instruction> program = compile(architecture, rules);
  constexpr std::size_t kMost = 4096;  // BPF_MAXINSNS
  if (program.size() > kMost) give_up("the program is too long for the kernel");
  write_program(program, path);
}

int generate(int argc, char** argv) {
  if (argc != 4) give_up("usage: generator FILE FILE_FOR_THE_SHARED_HOST THE_SAME_WITH_TCP");
  const std::uint32_t architecture = seccomp_arch_native();
  if (architecture == SCMP_ARCH_S390 || architecture == SCMP_ARCH_S390X) give_up("clone's flags are elsewhere here");
  generate_one(architecture, {}, argv[1]);
  generate_one(architecture, kOnSharedHost, argv[2]);
  generate_one(architecture, with_tcp_on_shared_host(), argv[3]);
  return 0;
}

}  // namespace
}  // namespace sallyport::seccomp

int main(int argc, char** argv) { return sallyport::seccomp::generate(argc, argv); }
