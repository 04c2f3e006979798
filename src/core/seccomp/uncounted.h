// Further refusals for a run with a memory limit: the few calls for which the kernel holds memory that its memory
// controller (v1 or v2) does not count.
//
//   - Unread answers on a netlink socket. Without netlink libc assumes that IPv4 and IPv6 work; only a list of network
//     interfaces is unavailable.
//   - A datagram that is never finished (UDP_CORK, MSG_MORE): 64 KiB for each socket.
#pragma once

#include <string>
#include <string_view>

namespace sallyport::seccomp {

// The program with these rules before it.
[[nodiscard]] std::string without_uncounted(std::string_view program);

}  // namespace sallyport::seccomp
