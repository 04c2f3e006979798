// The connections of a tool whose network has no way out, carried as frames (frame.h) between the init, which accepts them inside, and
// the worker, which hands them to the owner's egress (handed.h). Both sides speak alike, but for kOpen, which is the init's:
//
//   kOpen    CarriedOpen            a connection that the tool made, with the address that it wanted
//   kData    a uint32, then bytes   never more than the other side has given credit for; both begin with kCarriedWindow
//   kCredit  CarriedCredit          so many bytes have been written on
//   kFinish  a uint32               no more data follows: a half-close
//   kGone    CarriedGone            the last word on a connection, said once by each side. Orderly only behind both kFinish.
//
// A number is free again when both sides have said kGone, so nothing late can be taken for something of the next connection.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spawn/wire/handed.h"

namespace sallyport::spawn::wire {

inline constexpr std::uint32_t kMostCarried = 64;            // at once; further ones wait in the kernel's queue
inline constexpr std::uint32_t kCarriedWindow = 256 * 1024;  // that each side holds of a connection at the most
inline constexpr std::uint32_t kCarriedPiece = 60 * 1024;    // of one kData
inline constexpr std::uint32_t kMostCarryingSockets = 512;   // listening inside: addresses by ports
inline constexpr std::uint32_t kLargestCarriedQuery = 4096;  // of a name, in a datagram

struct CarriedOpen {
  std::uint32_t id;
  Handed wanted;  // its number is the worker's own matter
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
