// One output stream of a run: always drained, the last bytes kept.
#pragma once

#include <cstddef>

#include "core/tail_ring.h"
#include "sallyport/jail.h"
#include "sallyport/unique_fd.h"

namespace sallyport::spawn {

class Capture {
 public:
  // A pipe that fills up is made larger once; the quick runs that never fill it do not pay for it.
  static constexpr std::size_t kDefaultPipeCapacity = std::size_t{64} << 10U;
  static constexpr std::size_t kBusyPipeCapacity = std::size_t{1} << 20U;

  Capture(UniqueFd pipe, Stream stream, ByteCount cap) : pipe_(std::move(pipe)), stream_(stream), ring_(cap) {}

  [[nodiscard]] int fd() const { return pipe_.get(); }

  // Takes what is there, until about `budget` bytes were taken.
  void drain(const OutputTap& tap, std::size_t budget);

  [[nodiscard]] CapturedStream finish() && { return std::move(ring_).finish(); }

 private:
  UniqueFd pipe_;
  Stream stream_;
  TailRing ring_;
  bool grown_ = false;
};

}  // namespace sallyport::spawn
