// A connected pair of TCP sockets, both ends ours: what reaches the owner's egress must be TCP, so that a reset by the owner reaches who
// has the other end as one.
#pragma once

#include "spawn/freestanding/sys.h"

namespace sallyport::spawn::helper {

constexpr long kRefused = -111;     // ECONNREFUSED
constexpr long kInProgress = -115;  // EINPROGRESS

// Nobody counts these bytes for the run, so they are few: the way between the two ends has no length.
void bound_buffers(long fd);
// Connects `socket` over loopback. The other end, or a negative errno. `connected` is what connect(2) said: 0, or kInProgress for
// a socket that does not wait. Takes no longer than a moment, whoever else finds the port.
long connect_to_own_end(int socket, bool is_ipv6, long& connected);
// Both ends new; 0 or a negative errno.
long make_loopback_pair(int& one, int& other);

}  // namespace sallyport::spawn::helper
