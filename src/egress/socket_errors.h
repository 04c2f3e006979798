// errno of socket calls, sorted by what to do about it.
#pragma once

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

}  // namespace sallyport
