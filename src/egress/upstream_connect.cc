#include "egress/upstream_connect.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "egress/socket_errors.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kStagger = 250ms;

int socket_error(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

// Returns 0 when under way or connected; otherwise errno.
int UpstreamConnect::begin(const Endpoint& endpoint) {
  UniqueFd fd(::socket(endpoint.address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno;
  send_at_once(fd.get());
  if (kind_of(endpoint.address) == AddressKind::kLoopback) do_not_pace(fd.get());
  const SocketAddress address = socket_address(endpoint);
  if (::connect(fd.get(), address.get(), address.length) != 0 && errno != EINPROGRESS) return errno;
  // Watch it even if it is connected already: epoll reports it writable at once, so there is only one success path.
  Result<Watch> watch = loop_.watch(fd.get(), EPOLLOUT, *this);
  if (!watch) return ENOMEM;
  attempts_.push_back({.fd = std::move(fd), .watch = std::move(*watch)});
  return 0;
}

void UpstreamConnect::try_next() {
  while (next_ < addresses_.size()) {
    const int error = begin(addresses_[next_]);
    if (error != 0 && out_of_descriptors(error)) {
      last_error_ = error;
      stagger_ = loop_.after(kDescriptorRetry, [this] { try_next(); });
      return;
    }
    ++next_;
    if (error == 0) {
      if (next_ < addresses_.size()) stagger_ = loop_.after(kStagger, [this] { try_next(); });
      return;
    }
    last_error_ = error;
  }
  if (attempts_.empty()) finish(UniqueFd());
}

void UpstreamConnect::ready(int fd, std::uint32_t /*events*/) {
  const auto attempt = std::ranges::find_if(attempts_, [fd](const Attempt& a) { return a.fd.get() == fd; });
  if (attempt == attempts_.end()) return;
  const int error = socket_error(fd);
  attempt->watch.reset();
  UniqueFd socket = std::move(attempt->fd);
  attempts_.erase(attempt);
  if (error == 0) return finish(std::move(socket));
  last_error_ = error;
  socket.reset();
  stagger_.reset();
  try_next();
}

void UpstreamConnect::finish(UniqueFd winner) {
  stagger_.reset();
  attempts_.clear();
  const Done done = std::move(done_);
  done(std::move(winner), last_error_);  // do not touch this object after this call
}

}  // namespace sallyport
