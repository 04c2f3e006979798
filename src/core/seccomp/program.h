// The seccomp program of table.h and arguments.h, as the kernel and bwrap's --seccomp take it: an array of struct sock_filter.
#pragma once

#include <string_view>

namespace sallyport::seccomp {

[[nodiscard]] std::string_view program();

}  // namespace sallyport::seccomp
