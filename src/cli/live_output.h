// Passes a tool's output on as it comes. On a terminal it goes through TerminalFilter, in a build service's log through
// LogCommandFilter; anywhere else byte for byte.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "cli/log_commands.h"
#include "cli/outlet.h"
#include "cli/terminal_filter.h"
#include "sallyport/jail.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// A slow reader slows the tool down, as a pipe does, and nothing else: pass_on() never blocks. What the reader has not
// taken yet waits here, and the gate reads no more of that stream meanwhile (waits_for). So at most one turn of the
// gate's loop waits here, and at the end what the pipe holds. After the deadline or a stop request it is dropped. Used
// by one thread at a time.
class LiveOutput {
 public:
  struct Options {
    std::chrono::milliseconds timeout{};
    int stop_fd = -1;  // readable once the run was asked to stop by a signal
    bool in_build_log = false;
  };
  LiveOutput(std::stop_source source, const Options& options);

  void pass_on(Stream stream, std::string_view bytes);
  // JailedSubprocessSpec::tap_waits_for.
  [[nodiscard]] int waits_for(Stream stream);
  // Call once, after the run: ends half characters and open colours, and delivers what is left until the deadline.
  void finish();

  // Why stdout could not be written (the run was asked to stop then). A failing stderr cannot be reported.
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  [[nodiscard]] bool reader_gone() const;

 private:
  struct Sink {
    explicit Sink(int fd, bool in_build_log);
    Outlet outlet;
    std::optional<TerminalFilter> terminal;
    std::optional<LogCommandFilter> build_log;
    std::string waiting{};  // for the reader
    bool broken = false;
  };
  Sink& sink(Stream stream) { return sinks_[stream == Stream::kStdout ? 0 : 1]; }
  void pass_filtered(Sink& sink, std::string_view bytes);
  [[nodiscard]] std::size_t write(Sink& sink, std::string_view bytes);
  void flush(Sink& sink);
  [[nodiscard]] bool wait_writable(const Sink& sink) const;
  void fail_with(Sink& sink, int error_number);

  std::stop_source source_;
  int stop_fd_;
  std::chrono::steady_clock::time_point deadline_;
  std::array<Sink, 2> sinks_;
  std::optional<Error> failure_;
};

}  // namespace sallyport::cli
