// A connection of a tool that has no network namespace of ours: its worker makes both ends and hands the other one to the owner, with
// the address that the tool wanted. One message each, with one descriptor, over the socket of a report with kHandsThemOver. The tool's call
// ends when the owner has answered.
#pragma once

#include <cstdint>

namespace sallyport::spawn::wire {

struct Handed {
  std::uint32_t number;      // its answer has the same
  std::uint16_t is_ipv6;     // 0 or 1
  std::uint16_t port;        // in the host's byte order
  std::uint8_t address[16];  // in the network's; of IPv4 the first four
};

// What becomes of it, back over the same socket.
struct HandedAnswer {
  std::uint32_t number;
  std::uint32_t is_let_in;  // 0: the tool's call is refused
};

}  // namespace sallyport::spawn::wire
