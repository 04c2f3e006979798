#include "core/seccomp/program.h"

namespace sallyport::seccomp {
namespace {

constexpr unsigned char kProgram[] = {
#include "seccomp_program.inc"
};

constexpr unsigned char kProgramOnSharedHost[] = {
#include "seccomp_shared_host.inc"
};

}  // namespace

std::string_view program() { return {reinterpret_cast<const char*>(kProgram), sizeof kProgram}; }

std::string_view program_on_shared_host() {
  return {reinterpret_cast<const char*>(kProgramOnSharedHost), sizeof kProgramOnSharedHost};
}

}  // namespace sallyport::seccomp
