// Passes a tool's output on as it comes. On a terminal it goes through TerminalFilter; anywhere else byte for byte.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string_view>

#include "cli/terminal_filter.h"
#include "sallyport/jail.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// A reader that is slow holds the tool back, as a pipe does; one that has stopped reading must not hold back the
// deadline or a cancel. So a write waits no longer than until `deadline` or a stop request, and what is left is
// dropped. Used by one thread at a time.
class LiveOutput {
 public:
  // `stop_fd` is readable once the run was asked to stop by a signal.
  LiveOutput(std::stop_source source, int stop_fd, std::chrono::milliseconds timeout);

  void pass_on(Stream stream, std::string_view bytes);
  // Call once, after the run: ends half characters and open colours.
  void finish();

  // Why stdout could not be written (the run was asked to stop then). A failing stderr has nobody to be told.
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  [[nodiscard]] bool reader_gone() const;

 private:
  struct Sink {
    int fd;
    std::size_t chunk;  // what can be written without blocking once poll() says so
    bool can_refuse;    // whether a write may be asked not to block; tried, and false once refused
    std::optional<TerminalFilter> filter;
    bool broken = false;
  };
  static Sink sink_for(int fd);
  void write(Sink& sink, std::string_view bytes);
  [[nodiscard]] ssize_t write_some(Sink& sink, std::string_view bytes) const;
  [[nodiscard]] bool wait_writable(int fd) const;
  void fail_with(Sink& sink, int error_number);

  std::stop_source source_;
  int stop_fd_;
  std::chrono::steady_clock::time_point deadline_;
  std::array<Sink, 2> sinks_;
  std::optional<Error> failure_;
};

}  // namespace sallyport::cli
