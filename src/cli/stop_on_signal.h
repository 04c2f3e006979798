// Ctrl-C, SIGTERM and SIGHUP as a stop request: the gate then ends the run its own way and nothing is left behind.
#pragma once

#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>

#include "os/event_fd.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::cli {

// From construction to destruction those signals are blocked in this thread (and all it starts) and taken by a thread
// of ours. Make it before any other thread. A signal that comes while a stop is under way is only counted; when the
// run has not ended 2 s after the first, the next one ends the process at once.
class StopOnSignal {
 public:
  [[nodiscard]] static Result<std::unique_ptr<StopOnSignal>> start(std::stop_source source);
  StopOnSignal(std::stop_source source, UniqueFd signals, EventFd finished);  // use start()
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  ~StopOnSignal();

  // The first signal that came, or 0.
  [[nodiscard]] int received() const { return received_.load(); }

 private:
  void watch();

  std::stop_source source_;
  UniqueFd signals_;
  EventFd finished_;
  std::atomic<int> received_{0};
  std::thread thread_;
};

}  // namespace sallyport::cli
