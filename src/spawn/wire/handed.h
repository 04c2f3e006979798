// A connection of a tool that has no network namespace of ours. Its worker makes both ends and hands the far one to the
// owner, with the address that the tool wanted: one message and one descriptor each, over the socket of a report with
// kHandsThemOver. The tool's call returns when the owner has answered.
#pragma once

#include <cstdint>

namespace sallyport::spawn::wire {

struct Handed {
  std::uint32_t number;      // the answer has the same number
  std::uint16_t is_ipv6;     // 0 or 1
  std::uint16_t port;        // in the host's byte order
  std::uint8_t address[16];  // in network byte order; IPv4 uses the first four
};

// The owner's answer, over the same socket.
struct HandedAnswer {
  std::uint32_t number;
  std::uint32_t is_let_in;  // 0: the tool's call is refused
};

}  // namespace sallyport::spawn::wire
