// errno of socket calls, sorted by what to do about it.
#pragma once

#include <poll.h>

#include <cerrno>
#include <chrono>

namespace sallyport {

// Wait for the socket.
[[nodiscard]] inline bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Wait for somebody to close something.
[[nodiscard]] inline bool out_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}
// Somebody else in our process may have freed a descriptor; nobody tells us.
inline constexpr std::chrono::milliseconds kDescriptorRetry{100};

// The kernel has no memory for it just now, whatever the socket's own buffers say.
[[nodiscard]] inline bool out_of_memory(int error) { return error == ENOBUFS || error == ENOMEM; }
// Nobody tells us when it has. Often enough not to be felt, seldom enough for 500 connections to cost next to nothing.
inline constexpr std::chrono::milliseconds kMemoryRetry{20};
// After EAGAIN from a write. A full buffer empties, and epoll tells. One that is not full was refused for want of memory
// (tcp_mem, a cgroup's limit): nothing may be on its way whose acknowledgement would make an edge.
[[nodiscard]] inline bool has_room(int sink) {
  pollfd watched{.fd = sink, .events = POLLOUT, .revents = 0};
  return ::poll(&watched, 1, 0) > 0 && (watched.revents & POLLOUT) != 0;
}

}  // namespace sallyport
