// The connections of a tool whose network has no way out, carried as frames (frame.h) between the init, which accepts
// them inside, and the worker, which hands them to the owner's egress (handed.h). Only the init sends kOpen; both sides
// send the others:
//
//   kOpen    CarriedOpen            a connection that the tool made, with the address that it wanted
//   kData    a uint32, then bytes   never more than the other side has given credit for; both begin with kCarriedWindow
//   kCredit  CarriedCredit          how many bytes have been written to the socket
//   kFinish  a uint32               no more data follows: a half-close
//   kGone    CarriedGone            each side's last frame on a connection. Orderly only after both kFinish.
//
// A number is free again when both sides have sent kGone, so no late frame can be taken for one of the next connection.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spawn/wire/handed.h"

namespace sallyport::spawn::wire {

inline constexpr std::uint32_t kMostCarried = 64;            // at once; others wait in the kernel's queue
inline constexpr std::uint32_t kCarriedWindow = 256 * 1024;  // the most that each side holds of a connection
inline constexpr std::uint32_t kCarriedPiece = 60 * 1024;    // of one kData
inline constexpr std::uint32_t kMostCarryingSockets = 512;   // listening inside: addresses by ports
inline constexpr std::uint32_t kLargestCarriedQuery = 4096;  // of a name, in a datagram

struct CarriedOpen {
  std::uint32_t id;
  Handed wanted;  // the worker sets its number
};

struct CarriedCredit {
  std::uint32_t id;
  std::uint32_t count;
};

struct CarriedGone {
  std::uint32_t id;
  std::uint32_t was_reset;  // 0 or 1
};

}  // namespace sallyport::spawn::wire
