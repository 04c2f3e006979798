// The deadline of a run and the ladder by which it is stopped: when the next step is due, and which.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "spawn/owner/supervise.h"

namespace sallyport::spawn {

class StopClock {
 public:
  using Clock = std::chrono::steady_clock;
  explicit StopClock(const Supervision& how) : wall_(how.wall), grace_(how.ladder.grace) {}

  [[nodiscard]] Clock::time_point deadline() const { return started_ + wall_; }
  [[nodiscard]] bool is_past_deadline() const { return Clock::now() >= deadline(); }
  [[nodiscard]] std::chrono::microseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - started_);
  }

  // The first step. Never later than one and a half times the deadline everything is over, also when that is shorter than
  // the usual grace (C9).
  [[nodiscard]] StopStep terminate() { return step(StopStep::kTerminate, std::min(grace_, wall_ / 4)); }

  // At once. The reaper first, which then reports what all of them used; it dies too when it does not answer soon. Before
  // the tool has started there is nothing to report.
  [[nodiscard]] StopStep kill(bool tool_started) {
    if (tool_started && last_ < StopStep::kKill) return step(StopStep::kKill, std::min(kTimeToReport, wall_ / 8));
    return step(StopStep::kForce, tool_started ? kTimeToDie : std::min(kTimeToDie, wall_ / 8));
  }

  // The step that follows the last one, when its time has come.
  [[nodiscard]] std::optional<StopStep> due(bool tool_started) {
    if (Clock::now() < next_ || gave_up()) return std::nullopt;
    if (last_ == StopStep::kForce) return step(StopStep::kAbandon, {});
    return kill(tool_started);
  }
  [[nodiscard]] Clock::time_point next() const { return next_; }
  [[nodiscard]] bool gave_up() const { return last_ == StopStep::kAbandon; }

 private:
  // A reaper that is not held up needs less to kill and reap thousands; on a busy machine its turn comes later.
  static constexpr std::chrono::milliseconds kTimeToReport{100};
  // After SIGKILL. The kernel needs a while for a tree of thousands, or of many gigabytes.
  static constexpr std::chrono::milliseconds kTimeToDie{30000};

  StopStep step(StopStep which, std::chrono::milliseconds until_next) {
    last_ = which;
    next_ = Clock::now() + until_next;
    return which;
  }

  const std::chrono::milliseconds wall_;
  const std::chrono::milliseconds grace_;
  const Clock::time_point started_ = Clock::now();
  Clock::time_point next_{};
  StopStep last_ = StopStep::kTerminate;
};

}  // namespace sallyport::spawn
