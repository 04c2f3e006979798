// What the benchmark's client and server say to each other: one letter and a count, then that many bytes. The letters
// begin no TLS and no HTTP.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace sallyport::bench {

inline constexpr char kDown = 1;
inline constexpr char kUp = 2;
inline constexpr char kAsk = 3;
inline constexpr std::size_t kAtOnce = std::size_t{256} * 1024;

// BBR, where it is the host's choice, paces the direct connection over loopback, and every ratio would flatter us.
inline void do_not_pace(int fd) {
  static constexpr char kReno[] = "reno";
  ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, kReno, sizeof kReno - 1);
}

inline bool send_order(int fd, char letter, std::uint64_t count) {
  char order[1 + sizeof count];
  order[0] = letter;
  std::memcpy(order + 1, &count, sizeof count);
  return ::send(fd, order, sizeof order, 0) == sizeof order;
}

inline bool send_bytes(int fd, std::uint64_t count) {
  const std::vector<char> block(kAtOnce, 'b');
  while (count > 0) {
    const ssize_t put = ::send(fd, block.data(), std::min<std::uint64_t>(block.size(), count), MSG_NOSIGNAL);
    if (put <= 0) return false;
    count -= static_cast<std::uint64_t>(put);
  }
  return true;
}

// How many came before the end.
inline std::uint64_t receive_bytes(int fd, std::uint64_t count) {
  std::vector<char> block(kAtOnce);
  std::uint64_t received = 0;
  while (received < count) {
    const ssize_t got = ::recv(fd, block.data(), std::min<std::uint64_t>(block.size(), count - received), 0);
    if (got <= 0) break;
    received += static_cast<std::uint64_t>(got);
  }
  return received;
}

}  // namespace sallyport::bench
