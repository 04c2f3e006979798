#include "egress/endpoint.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace sallyport {
namespace {

// SO_ORIGINAL_DST and IP6T_SO_ORIGINAL_DST; their kernel headers conflict with <netinet/in.h>.
constexpr int kOriginalDestination = 80;

}  // namespace

SocketAddress socket_address(const Endpoint& endpoint) {
  SocketAddress address;
  if (endpoint.address.v6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    std::memcpy(&v6.sin6_addr, endpoint.address.bytes.data(), sizeof v6.sin6_addr);
    std::memcpy(&address.storage, &v6, sizeof v6);
    address.length = sizeof v6;
  } else {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint.port);
    std::memcpy(&v4.sin_addr, endpoint.address.bytes.data(), sizeof v4.sin_addr);
    std::memcpy(&address.storage, &v4, sizeof v4);
    address.length = sizeof v4;
  }
  return address;
}

std::optional<Endpoint> endpoint_of(const sockaddr* address) {
  Endpoint endpoint;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    std::memcpy(endpoint.address.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
    endpoint.port = ntohs(v4.sin_port);
    return endpoint;
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, address, sizeof v6);
  endpoint.port = ntohs(v6.sin6_port);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    std::copy_n(v6.sin6_addr.s6_addr + 12, 4, endpoint.address.bytes.begin());
  } else {
    endpoint.address.v6 = true;
    std::copy_n(v6.sin6_addr.s6_addr, 16, endpoint.address.bytes.begin());
  }
  return endpoint;
}

std::optional<Endpoint> local_endpoint(int fd) {
  SocketAddress address;
  address.length = sizeof address.storage;
  if (::getsockname(fd, address.get(), &address.length) != 0) return std::nullopt;
  return endpoint_of(address.get());
}

std::optional<Endpoint> original_destination(int fd) {
  for (const int level : {IPPROTO_IP, IPPROTO_IPV6}) {
    SocketAddress address;
    address.length = level == IPPROTO_IP ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getsockopt(fd, level, kOriginalDestination, &address.storage, &address.length) == 0) {
      return endpoint_of(address.get());
    }
  }
  return local_endpoint(fd);
}

void send_at_once(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void do_not_pace(int fd) {
  static constexpr std::string_view kReno = "reno";
  ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, kReno.data(), kReno.size());
}

void bound_unsent(int fd, int bytes) { ::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes); }

void bound_buffers(int fd, int bytes) {
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

void close_with_reset(UniqueFd fd) {
  if (!fd) return;
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace sallyport
