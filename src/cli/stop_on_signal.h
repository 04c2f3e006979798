// Ctrl-C, SIGTERM and SIGHUP as a stop request: the gate then ends the run its own way and nothing is left behind.
#pragma once

#include "os/event_fd.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// From start() on, to the end of the process. A signal that comes while a stop is under way is only noted; when the run
// has not ended 2 s after the first, the next one ends the process at once. Signals are handled, not taken by a thread of
// ours: a thread costs a short run half a millisecond.
class StopOnSignal {
 public:
  // Once per process.
  [[nodiscard]] static Result<StopOnSignal> start();

  // Readable from the first signal on.
  [[nodiscard]] int fd() const { return event_.fd(); }
  // The first signal that came, or 0.
  [[nodiscard]] int received() const;

 private:
  explicit StopOnSignal(EventFd event) : event_(std::move(event)) {}
  EventFd event_;
};

}  // namespace sallyport::cli
