// The seccomp program of table.h and arguments.h, as the kernel and bwrap's --seccomp take it: an array of struct sock_filter.
#pragma once

#include <string_view>

namespace sallyport::seccomp {

[[nodiscard]] std::string_view program();

// The same for a tool that shares the host's namespaces, with shared_host.h in it. It asks, so it needs somebody who answers.
[[nodiscard]] std::string_view program_on_shared_host();

// And with shared_host_tcp.h: TCP sockets and connections are asked for too.
[[nodiscard]] std::string_view program_on_shared_host_with_tcp();

}  // namespace sallyport::seccomp
