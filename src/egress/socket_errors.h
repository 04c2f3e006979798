// errno of socket calls, sorted by what to do about it.
#pragma once

#include <poll.h>

#include <cerrno>
#include <chrono>

namespace sallyport {

// Wait for the socket.
[[nodiscard]] inline bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Wait until something is closed.
[[nodiscard]] inline bool out_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}
// Another part of our process may free a descriptor without notice, so retry.
inline constexpr std::chrono::milliseconds kDescriptorRetry{100};

// The kernel has no memory for it now, even if the socket's own buffers have room.
[[nodiscard]] inline bool out_of_memory(int error) { return error == ENOBUFS || error == ENOMEM; }
// No event says when it has again. Often enough not to be noticed, rarely enough that 500 connections cost almost
// nothing.
inline constexpr std::chrono::milliseconds kMemoryRetry{20};
// Call after EAGAIN from a write. A full buffer drains, and epoll reports that. If the buffer is not full, memory was
// short (tcp_mem, a cgroup's limit): then perhaps no bytes are under way whose acknowledgement would cause an event.
[[nodiscard]] inline bool has_room(int sink) {
  pollfd watched{.fd = sink, .events = POLLOUT, .revents = 0};
  return ::poll(&watched, 1, 0) > 0 && (watched.revents & POLLOUT) != 0;
}

}  // namespace sallyport
