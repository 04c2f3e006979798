// Writing to one of our standard streams without ever waiting for its reader. O_NONBLOCK is not for us to set: others share
// the open file. So a pipe is asked not to block for each write (RWF_NOWAIT), a terminal is opened once more, a socket has a
// flag for it; only where none of these works does poll(2) have to do.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "sallyport/unique_fd.h"

namespace sallyport::cli {

class Outlet {
 public:
  explicit Outlet(int fd);

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool is_terminal() const { return terminal_; }

  // As write(2) on a non-blocking descriptor: EAGAIN when the reader has to read first. A regular file just takes it.
  [[nodiscard]] ssize_t write_some(std::string_view bytes);

  // Until all is written: 0, or the errno. ETIMEDOUT when the reader took nothing for `patience`, ECANCELED when `stop_fd` is
  // readable before that (-1: none).
  [[nodiscard]] int write_all(std::string_view bytes, std::chrono::milliseconds patience, int stop_fd);

 private:
  enum class Way : std::uint8_t { kPlain, kNoWait, kOwnDescription, kSocket, kPoll };
  [[nodiscard]] Way open_again();

  int fd_;
  bool terminal_ = false;
  Way way_ = Way::kPlain;
  UniqueFd own_{};
};

}  // namespace sallyport::cli
