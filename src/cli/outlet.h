// Writes to one of our standard streams without ever waiting for its reader. We must not set O_NONBLOCK: others share
// the open file. So we write to a pipe with RWF_NOWAIT, open a terminal once more, and use a flag for a socket; only
// where none of these works do we rely on poll(2).
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

  // Like write(2) on a non-blocking descriptor: EAGAIN when the reader has to read first. A regular file always
  // accepts.
  [[nodiscard]] ssize_t write_some(std::string_view bytes);

  // Writes all: 0, or the errno. ETIMEDOUT when the reader took nothing for `patience`, ECANCELED when `stop_fd` is
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
