// The seccomp program of table.h and arguments.h, in the form for the kernel and bwrap's --seccomp: an array of struct
// sock_filter.
#pragma once

#include <string_view>

namespace sallyport::seccomp {

[[nodiscard]] std::string_view program();

// The same for a tool that shares the host's namespaces, with the rules of shared_host.h. It asks, so it needs a worker
// that answers.
[[nodiscard]] std::string_view program_on_shared_host();

// And with shared_host_tcp.h: it also asks for TCP sockets and connections.
[[nodiscard]] std::string_view program_on_shared_host_with_tcp();

}  // namespace sallyport::seccomp
