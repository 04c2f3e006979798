// One direction of a connection. Reads only what it can pass on, so the sender slows down to the receiver's pace.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "egress/pipe_pool.h"

namespace sallyport {

class Relay {
 public:
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  enum class State {
    kWaiting,       // for one of the sockets
    kNoMemory,      // in the kernel; no socket reports when there is again: retry after kMemoryRetry
    kYield,         // there is more to do; let others go first
    kEnded,         // the source has ended, and everything was passed on
    kMostReached,   // `most` is zero, and everything was passed on
    kOverBudget,    // there is more, and no budget for it
    kSourceBroken,  // all that came before was passed on
    kSinkBroken,
  };

  // Uses `copy_buffer` when no pipe is available.
  Relay(PipePool& pool, std::span<std::uint8_t> copy_buffer) : pool_(pool), copy_buffer_(copy_buffer) {}
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Moves what can be moved now. Each byte read lowers both counters; it never reads more than either allows.
  [[nodiscard]] State pump(int from, int to, std::uint64_t& budget, std::uint64_t& most);
  // Bytes read and not yet written.
  [[nodiscard]] bool in_flight() const { return in_flight_ > 0; }

 private:
  [[nodiscard]] std::optional<State> fill(int from, std::uint64_t want, std::uint64_t& budget, std::uint64_t& most);
  [[nodiscard]] std::optional<State> drain(int to);
  [[nodiscard]] std::optional<State> copy(int from, int to, std::uint64_t want, std::uint64_t& budget,
                                          std::uint64_t& most) const;
  void give_back();

  PipePool& pool_;
  std::span<std::uint8_t> copy_buffer_;
  std::optional<Pipe> pipe_{};
  std::size_t in_flight_ = 0;
};

}  // namespace sallyport
