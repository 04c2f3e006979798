#include "core/seccomp/program.h"

namespace sallyport::seccomp {
namespace {

constexpr unsigned char kProgram[] = {
#include "seccomp_program.inc"
};

}  // namespace

std::string_view program() { return {reinterpret_cast<const char*>(kProgram), sizeof kProgram}; }

}  // namespace sallyport::seccomp
