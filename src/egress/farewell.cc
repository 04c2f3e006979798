#include "egress/farewell.h"

#include <sys/socket.h>

#include <cerrno>

#include "egress/socket_errors.h"

namespace sallyport {
namespace {

// Enough for what a client sends before it reads the refusal; a client that sends more gets a reset.
constexpr std::size_t kMostDrained = 1024 * 1024;

}  // namespace

Farewell::State Farewell::advance(int client, std::span<std::uint8_t> scratch) {
  while (written_ < text_.size()) {
    const ssize_t put = ::send(client, text_.data() + written_, text_.size() - written_, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return would_block(errno) ? State::kWaiting : State::kReset;
    written_ += static_cast<std::size_t>(put);
  }
  ::shutdown(client, SHUT_WR);
  while (drained_ < kMostDrained) {
    const ssize_t got = ::recv(client, scratch.data(), scratch.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && would_block(errno)) return State::kWaiting;
    if (got <= 0) return State::kClosed;
    drained_ += static_cast<std::size_t>(got);
  }
  return State::kReset;
}

}  // namespace sallyport
