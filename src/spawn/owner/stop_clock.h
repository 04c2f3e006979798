// The deadline of a run and its stop ladder: which step comes next, and when.
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

  // The first step. The run is over by one and a half times the deadline, also when that is shorter than the usual
  // grace (C9).
  [[nodiscard]] StopStep terminate() { return step(StopStep::kTerminate, std::min(grace_, wall_ / 4)); }

  // Kills at once. First it commands the reaper, which kills the rest and reports what they all used; a reaper that
  // does not answer soon is killed too. Before the tool has started there is nothing to report.
  [[nodiscard]] StopStep kill(bool tool_started) {
    if (tool_started && last_ < StopStep::kKill) return step(StopStep::kKill, std::min(kTimeToReport, wall_ / 8));
    return step(StopStep::kForce, tool_started ? kTimeToDie : std::min(kTimeToDie, wall_ / 8));
  }

  // The next step, when it is due.
  [[nodiscard]] std::optional<StopStep> due(bool tool_started) {
    if (Clock::now() < next_ || gave_up()) return std::nullopt;
    if (last_ == StopStep::kForce) return step(StopStep::kAbandon, {});
    return kill(tool_started);
  }
  [[nodiscard]] Clock::time_point next() const { return next_; }
  [[nodiscard]] bool gave_up() const { return last_ == StopStep::kAbandon; }

 private:
  // A reaper needs less than this to kill and reap thousands; on a busy machine it may have to wait for a processor.
  static constexpr std::chrono::milliseconds kTimeToReport{100};
  // After SIGKILL. The kernel needs time for a tree of thousands of processes or many gigabytes.
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
