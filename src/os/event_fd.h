// A wake-up that poll() can wait for, from any thread (std::stop_callback uses it to end a poll loop).
#pragma once

#include <cstdint>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

class EventFd {
 public:
  [[nodiscard]] static Result<EventFd> create();

  // Readable from now until drain(). Thread-safe, async-signal-safe, never blocks.
  void signal() const noexcept;
  // How often signal() was called since the last drain; 0 when it was not.
  [[nodiscard]] std::uint64_t drain() const noexcept;

  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  explicit EventFd(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace sallyport
