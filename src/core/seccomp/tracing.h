// strace's own run: ptrace(2) is let through, for strace and for what it starts (ADR 0046).
#pragma once

#include <string>
#include <string_view>

namespace sallyport::seccomp {

// The program behind one rule more.
[[nodiscard]] std::string with_tracing(std::string_view program);

}  // namespace sallyport::seccomp
