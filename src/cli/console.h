// Everything that the CLI itself prints: data on stdout, the rest on stderr, nothing unprintable on either. A reader
// that does not read cannot block us for long.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "cli/format.h"
#include "core/json/json.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// Makes sure that descriptors 0, 1 and 2 are open: otherwise the next opened file would become our stdout. A descriptor
// that was closed fails on use (EBADF), as it should.
void secure_standard_streams();

// Call once, before any output. In a build service's log (log_commands.h) our output then contains no commands to that
// service.
void expect_build_log(bool in_build_log);

// A reader that takes nothing for so long has stopped reading; we drop the rest.
inline constexpr std::chrono::seconds kReaderPatience{10};

// While this lives, lines on stderr never block: it keeps what does not fit, up to 64 KiB, and retries with the next
// line. Afterwards lines wait a tenth of the run's timeout, at most a second: the run must end in time. A readable
// `stop_fd` ends every wait.
class SayingDuringRun {
 public:
  SayingDuringRun(int stop_fd, std::chrono::milliseconds timeout);
  ~SayingDuringRun();
  SayingDuringRun(const SayingDuringRun&) = delete;
  SayingDuringRun& operator=(const SayingDuringRun&) = delete;
};

// What the tool last printed on a terminal: our next message begins on its own line, with plain attributes.
void note_terminal_text(char last);

// True when the terminal's cursor is at the start of a line.
[[nodiscard]] bool at_line_start();
// Sets a function to call before each line on stderr; empty: none.
void before_each_line(std::function<void()> call);

// Prints one line (a note, a warning) on stderr, after "sallyport: ". From any thread.
void say(std::string_view text);
void say_hint(std::string_view text);

// These return the process's exit code: `code`, or another after a failed write (141 when the reader is gone).
[[nodiscard]] int print_text(std::string_view text, int code);
[[nodiscard]] int print_record(const Json& record, int code);
// Writes in pieces, so that it never copies whole streams with their escapes.
[[nodiscard]] int print_run_record(const JailedSubprocessResult& result, const Json& events, int code);
[[nodiscard]] bool in_build_log();
// Prints in the requested format.
[[nodiscard]] int report(const Error& error, Format format);

}  // namespace sallyport::cli
