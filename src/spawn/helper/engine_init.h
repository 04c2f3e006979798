// What process 1 of a container engine's container does because the owner cannot see inside: it watches scratch, counts
// out-of-memory kills, and notices when its owner is silent.
#pragma once

#include "spawn/freestanding/poll.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

class EngineWatch {
 public:
  // Call before this init is confined.
  void open();
  // How long poll(2) may wait.
  [[nodiscard]] static long look_every_ms() { return 10; }
  void heard() { last_heard_ms_ = now_ms(); }
  [[nodiscard]] bool owner_is_silent() const;
  // True once, when scratch is full: the processes that filled it may have to be killed.
  bool scratch_just_filled();
  void put_findings(wire::Report& report);

 private:
  bool measure_scratch();

  static constexpr int kScratches = 3;
  int scratch_[kScratches];
  int oom_counter_;
  long last_heard_ms_;
  bool full_;
  std::uint64_t bytes_;
  std::uint64_t files_;
};

}  // namespace sallyport::spawn::helper
