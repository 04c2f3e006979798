// A connected pair of TCP sockets, both ends ours: the owner's egress must get TCP, so that the holder of the other end
// sees a reset by the owner as a reset.
#pragma once

#include "spawn/freestanding/sys.h"

namespace sallyport::spawn::helper {

constexpr long kRefused = -111;     // ECONNREFUSED
constexpr long kInProgress = -115;  // EINPROGRESS

// Sets small buffers: no limit of the run counts these bytes, and the two ends are on one machine.
void bound_buffers(long fd);
// Connects `socket` over loopback. Returns the other end, or a negative errno. `connected` is what connect(2) returned:
// 0, or kInProgress for a non-blocking socket. Takes at most a moment, even if other processes find the port.
long connect_to_own_end(int socket, bool is_ipv6, long& connected);
// Makes both ends; 0 or a negative errno.
long make_loopback_pair(int& one, int& other);

}  // namespace sallyport::spawn::helper
