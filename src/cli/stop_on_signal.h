// Turns Ctrl-C, SIGTERM and SIGHUP into a stop request: then the gate ends the run and leaves nothing behind.
#pragma once

#include "os/event_fd.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// From start() on, to the end of the process. It only notes a signal during a stop; if the run has not ended 2 s after
// the first, the next signal ends the process at once. It uses a handler, not a thread: a thread costs a short run half
// a millisecond.
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
