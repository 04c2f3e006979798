#include "core/seccomp/program.h"

namespace sallyport::seccomp {
namespace {

constexpr unsigned char kProgram[] = {
#include "seccomp_program.inc"
};

constexpr unsigned char kProgramOnSharedHost[] = {
#include "seccomp_shared_host.inc"
};

constexpr unsigned char kProgramOnSharedHostWithTcp[] = {
#include "seccomp_shared_host_tcp.inc"
};

}  // namespace

std::string_view program() { return {reinterpret_cast<const char*>(kProgram), sizeof kProgram}; }

std::string_view program_on_shared_host() {
  return {reinterpret_cast<const char*>(kProgramOnSharedHost), sizeof kProgramOnSharedHost};
}

std::string_view program_on_shared_host_with_tcp() {
  return {reinterpret_cast<const char*>(kProgramOnSharedHostWithTcp), sizeof kProgramOnSharedHostWithTcp};
}

}  // namespace sallyport::seccomp
