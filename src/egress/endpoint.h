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
// An IPv4-mapped IPv6 address gives IPv4. nullopt: another family.
[[nodiscard]] std::optional<Endpoint> endpoint_of(const sockaddr* address);

// The address an accepted socket's peer connected to.
[[nodiscard]] std::optional<Endpoint> local_endpoint(int fd);
// The same before netfilter's redirection; the unchanged address if nothing was redirected.
[[nodiscard]] std::optional<Endpoint> original_destination(int fd);

// Sends bytes at once (switches Nagle's algorithm off).
void send_at_once(int fd);
// For connections inside this machine: BBR, if the host uses it, slows them down by pacing. Every kernel has Reno.
void do_not_pace(int fd);
// Bounds the bytes that the kernel keeps for a socket whose peer does not read. Bytes under way are not delayed.
void bound_unsent(int fd, int bytes);
// Bounds them also for a socket that we do not read; this ends the kernel's own tuning, so long-distance connections
// get slower.
void bound_buffers(int fd, int bytes);
// The peer learns at once that the connection failed, and nothing lingers.
void close_with_reset(UniqueFd fd);

}  // namespace sallyport
