// One output stream of a run: always drained, the last bytes kept.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/bytes/tail_ring.h"
#include "os/huge_pages.h"
#include "sallyport/jail.h"
#include "sallyport/unique_fd.h"

namespace sallyport::spawn {

class Capture {
 public:
  // The pipe of a stream that is longer than one is enlarged once, so that short runs do not pay for it. It stays small
  // enough that both its ends fit in a processor's cache.
  static constexpr std::size_t kDefaultPipeCapacity = std::size_t{64} << 10U;
  static constexpr std::size_t kBusyPipeCapacity = std::size_t{256} << 10U;

  Capture(UniqueFd pipe, Stream stream, ByteCount cap)
      : pipe_(std::move(pipe)), stream_(stream), ring_(cap, prefer_huge_pages) {}

  [[nodiscard]] int fd() const { return pipe_.get(); }

  // Reads what is there, up to about `budget` bytes.
  void drain(const OutputTap& tap, std::size_t budget);

  // An errno when the pipe could not be read to its end, so that the capture is incomplete. Else 0.
  [[nodiscard]] int error() const { return error_; }

  [[nodiscard]] CapturedStream finish() && { return std::move(ring_).finish(); }

 private:
  [[nodiscard]] std::span<char> room();
  void keep(std::span<const char> taken);

  UniqueFd pipe_;
  Stream stream_;
  TailRing ring_;
  int error_ = 0;
  // We read a long stream into this and copy it to the ring: the kernel's copy is quick only into cached memory, and
  // the ring is too large for the cache. Short streams are read straight into the ring.
  std::unique_ptr<char[]> stage_;
};

}  // namespace sallyport::spawn
