#include "egress/proxy_tunnel.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "core/bytes/base64.h"
#include "core/errors.h"
#include "egress/socket_errors.h"

namespace sallyport {
namespace {

// More than any proxy says before it says yes or no.
constexpr std::size_t kLongestHead = 16 * 1024;
constexpr std::string_view kEndOfHead = "\r\n\r\n";

// "HTTP/1.1 200 …": the code, or 0.
int status_of(std::string_view head) {
  constexpr std::size_t kCodeAt = 9;
  const bool plausible = head.starts_with("HTTP/1.") && head.size() > kCodeAt + 3 && head[kCodeAt - 1] == ' ';
  if (!plausible) return 0;
  int code = 0;
  for (const char digit : head.substr(kCodeAt, 3)) {
    if (digit < '0' || digit > '9') return 0;
    code = code * 10 + (digit - '0');
  }
  return code;
}

std::string problem_of(int status) {
  if (status == 0) return "the proxy does not answer in HTTP";
  if (status == 407) return "the proxy wants a user and a password (407)";
  return fmt::format("the proxy refuses it ({})", status);
}

}  // namespace

bool goes_through(const UpstreamProxy& proxy, std::string_view name) {
  return std::ranges::none_of(proxy.without, [name](const std::string& one) {
    return one == "*" || name == one ||
           (name.size() > one.size() && name.ends_with(one) && name[name.size() - one.size() - 1] == '.');
  });
}

std::string connect_request(const UpstreamProxy& proxy, std::string_view name, std::uint16_t port) {
  std::string request = fmt::format("CONNECT {0}:{1} HTTP/1.1\r\nHost: {0}:{1}\r\n", name, port);
  if (!proxy.credentials.empty()) {
    request += fmt::format("Proxy-Authorization: Basic {}\r\n", base64(proxy.credentials));
  }
  return request + "\r\n";
}

void ProxyTunnel::start() {
  Result<Watch> watch = loop_.watch(proxy_.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, *this);
  if (!watch) return finish("no memory to wait for the proxy");
  watch_ = std::move(*watch);
  ready(proxy_.get(), 0);
}

void ProxyTunnel::ready(int /*fd*/, std::uint32_t /*events*/) {
  if (send_rest()) read_answer();
}

// False: it has ended, or waits.
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

// Looked at before it is taken: behind the head comes what the host itself says.
void ProxyTunnel::read_answer() {
  std::array<char, kLongestHead> seen{};
  ssize_t got = -1;
  do {
    got = ::recv(proxy_.get(), seen.data(), seen.size(), MSG_PEEK);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && would_block(errno)) return;
  if (got <= 0) return finish("the proxy closed the connection");
  const std::string_view head(seen.data(), static_cast<std::size_t>(got));
  const std::size_t end = head.find(kEndOfHead);
  if (end == std::string_view::npos && head.size() < kLongestHead) return;  // more comes, or its end
  const int status = end == std::string_view::npos ? 0 : status_of(head);
  if (status < 200 || status > 299) return finish(problem_of(status));
  const std::size_t size = end + kEndOfHead.size();
  if (::recv(proxy_.get(), seen.data(), size, 0) != static_cast<ssize_t>(size)) return finish(problem_of(0));
  finish({});
}

void ProxyTunnel::finish(std::string problem) {
  watch_.reset();
  UniqueFd socket = problem.empty() ? std::move(proxy_) : UniqueFd();
  const Done done = std::move(done_);
  done(std::move(socket), std::move(problem));  // nothing of ours may be touched after this
}

}  // namespace sallyport
