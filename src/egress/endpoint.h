// Socket addresses as values.
#pragma once

#include <sys/socket.h>

#include <optional>

#include "core/egress/ip_address.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

struct Endpoint {
  IpAddress address{};
  std::uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

[[nodiscard]] SocketAddress socket_address(const Endpoint& endpoint);
// IPv4 in an IPv6 socket's clothes is IPv4. nullopt: another family.
[[nodiscard]] std::optional<Endpoint> endpoint_of(const sockaddr* address);

// The address an accepted socket's peer connected to.
[[nodiscard]] std::optional<Endpoint> local_endpoint(int fd);
// The same, before netfilter redirected it; as it is when nothing was redirected.
[[nodiscard]] std::optional<Endpoint> original_destination(int fd);

// Bytes go out when they come in, not when Nagle's algorithm has seen enough of them.
void send_at_once(int fd);
// For ways inside this machine: BBR, where it is the host's choice, slows them down by pacing. Reno is in every kernel.
void do_not_pace(int fd);
// Bytes that the kernel keeps for a socket whose peer does not take them. Nothing that is under way is held up.
void bound_unsent(int fd, int bytes);
// And for one that we do not read; ends the kernel's own tuning, so the rate over a long way falls.
void bound_buffers(int fd, int bytes);
// The peer is told at once that the connection failed, and nothing lingers.
void close_with_reset(UniqueFd fd);

}  // namespace sallyport
