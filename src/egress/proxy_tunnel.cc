#include "egress/proxy_tunnel.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "core/bytes/base64.h"
#include "core/egress/connect_answer.h"
#include "core/errors.h"
#include "egress/socket_errors.h"

namespace sallyport {
bool goes_through(const UpstreamProxy& proxy, std::string_view name) {
  return std::ranges::none_of(proxy.without(), [name](const std::string& one) {
    return one == "*" || name == one ||
           (name.size() > one.size() && name.ends_with(one) && name[name.size() - one.size() - 1] == '.');
  });
}

std::string connect_request(const UpstreamProxy& proxy, std::string_view name, std::uint16_t port) {
  std::string request = fmt::format("CONNECT {0}:{1} HTTP/1.1\r\nHost: {0}:{1}\r\n", name, port);
  if (!proxy.credentials().empty()) {
    request += fmt::format("Proxy-Authorization: Basic {}\r\n", base64(proxy.credentials()));
  }
  return request + "\r\n";
}

void ProxyTunnel::start() {
  Result<Watch> watch = loop_.watch(proxy_.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, *this);
  if (!watch) return finish("no memory to wait for the proxy");
  watch_ = std::move(*watch);
  ready(proxy_.get(), 0);
}

void ProxyTunnel::ready(int /*fd*/, std::uint32_t events) {
  constexpr std::uint32_t kEnd = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if (send_rest()) read_answer((events & kEnd) != 0);
}

// False: the tunnel has ended, or waits.
bool ProxyTunnel::send_rest() {
  while (sent_ < request_.size()) {
    const ssize_t put = ::send(proxy_.get(), request_.data() + sent_, request_.size() - sent_, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && would_block(errno)) return false;
    if (put < 0) {
      finish(fmt::format("the proxy cannot be asked: {}", errno_text(errno)));
      return false;
    }
    sent_ += static_cast<std::size_t>(put);
  }
  return true;
}

// Peeks before it reads: the host's own bytes follow the head.
void ProxyTunnel::read_answer(bool ended) {
  std::array<char, kLargestConnectAnswer> seen{};
  ssize_t got = -1;
  do {
    got = ::recv(proxy_.get(), seen.data(), seen.size(), MSG_PEEK);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && would_block(errno)) return;
  if (got <= 0) return finish("the proxy closed the connection");
  ConnectAnswer answer = parse_connect_answer({seen.data(), static_cast<std::size_t>(got)});
  switch (answer.kind) {
    case ConnectAnswer::Kind::kNeedMore:
      // Peeked bytes hide the end of file after them.
      return ended ? finish("the proxy closed the connection") : void();
    case ConnectAnswer::Kind::kRefused:
      return finish(std::move(answer.why));
    case ConnectAnswer::Kind::kOpen:
      break;
  }
  const ssize_t taken = ::recv(proxy_.get(), seen.data(), answer.size, 0);
  finish(taken == static_cast<ssize_t>(answer.size) ? std::string() : "the proxy closed the connection");
}

void ProxyTunnel::finish(std::string problem) {
  watch_.reset();
  UniqueFd socket = problem.empty() ? std::move(proxy_) : UniqueFd();
  const Done done = std::move(done_);
  done(std::move(socket), std::move(problem));  // do not touch this object after this call
}

}  // namespace sallyport
