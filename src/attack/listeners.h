// Our listeners outside the jail: one of each kind, and what they received.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::attack {

// A socket of that type on a free port of the host's loopback.
[[nodiscard]] Result<UniqueFd> listen_on_loopback(int type, std::uint16_t& port);

class Listeners {
 public:
  // `sockets_at`: one path unix socket is bound at each.
  [[nodiscard]] static Result<Listeners> open(const std::vector<std::filesystem::path>& sockets_at,
                                              const std::string& abstract_name);

  // One more, of any type.
  [[nodiscard]] Status add_unix(const std::filesystem::path& path, int type);

  [[nodiscard]] std::uint16_t tcp_port() const { return tcp_port_; }
  [[nodiscard]] std::uint16_t udp_port() const { return udp_port_; }
  // A connection, a datagram or a byte has arrived at any of them.
  [[nodiscard]] bool heard() const;

 private:
  std::vector<UniqueFd> ears_;
  UniqueFd leaked_;  // the other end of a socket pair, left inheritable on purpose
  std::uint16_t tcp_port_ = 0;
  std::uint16_t udp_port_ = 0;
};

}  // namespace sallyport::attack
