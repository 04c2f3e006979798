// The limits that only we enforce: we measure from time to time what a run uses.
#pragma once

#include <chrono>
#include <optional>

#include "spawn/owner/supervise.h"

namespace sallyport::spawn {

class Watches {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Watches(const Supervision& how) : how_(how) {}

  // The limit that the run has reached; `run` gets the measured value. Measures only what is due.
  [[nodiscard]] std::optional<EndedBy> reached(Ended& run);
  // When to call reached() again.
  [[nodiscard]] Clock::time_point next(const Ended& run) const;

  // True when scratch is full. The quota is the size of scratch's file system, so the kernel enforces it; but bwrap
  // cannot limit the number of files, so we do.
  [[nodiscard]] bool scratch_is_full(Ended& run) const;

 private:
  [[nodiscard]] bool cpu_is_used_up();
  [[nodiscard]] bool memory_is_used_up(Ended& run);

  const Supervision& how_;
  Clock::time_point next_disk_look_{};
  Clock::time_point next_layer_look_{};
  Clock::time_point next_cpu_look_{};
  Clock::time_point next_socket_look_{};
  Clock::time_point next_memory_look_{};
};

}  // namespace sallyport::spawn
