// What a run with a memory limit may not do besides: the few calls by which the kernel keeps memory for a process that its
// memory controller does not count, in either version.
//
//   - Answers on a netlink socket that nobody reads. Without netlink libc takes both kinds of addresses for usable; only
//     a list of network interfaces cannot be had.
//   - A datagram that is never finished (UDP_CORK, MSG_MORE): 64 KiB for each socket.
#pragma once

#include <string>
#include <string_view>

namespace sallyport::seccomp {

// The program behind the rules above.
[[nodiscard]] std::string without_uncounted(std::string_view program);

}  // namespace sallyport::seccomp
