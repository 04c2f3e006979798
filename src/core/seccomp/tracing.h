// For a run of strace: allows ptrace(2), for strace and for what it starts (ADR 0046).
#pragma once

#include <string>
#include <string_view>

namespace sallyport::seccomp {

// The program with one more rule before it.
[[nodiscard]] std::string with_tracing(std::string_view program);

}  // namespace sallyport::seccomp
