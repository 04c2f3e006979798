// The limits that nobody but us keeps: what a run uses is measured now and then.
#pragma once

#include <chrono>
#include <optional>

#include "spawn/owner/supervise.h"

namespace sallyport::spawn {

class Watches {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Watches(const Supervision& how) : how_(how) {}

  // The limit that has been reached, with what was seen noted in `run`. Looks only where it is time to.
  [[nodiscard]] std::optional<EndedBy> reached(Ended& run);
  // When to ask again.
  [[nodiscard]] Clock::time_point next(const Ended& run) const;

  // True when scratch is full. The quota is the size of its file system, so the kernel has been the judge; but bwrap cannot
  // bound the number of files, so there we are.
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
