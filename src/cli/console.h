// Everything the CLI says in its own voice: data on stdout, the rest on stderr, nothing unprintable on either, and no reader
// who does not read can hold us up for long.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "cli/format.h"
#include "core/json/json.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// Descriptors 0, 1 and 2 are open afterwards, whatever we were started with: otherwise the next file opened would
// become our stdout. A descriptor that was closed fails on use (EBADF), as it should.
void secure_standard_streams();

// Once, before anything is said. In a build service's log (log_commands.h) what we print holds no commands to it.
void expect_build_log(bool in_build_log);

// A reader who takes nothing for so long is taken to have stopped reading, and the rest is dropped.
inline constexpr std::chrono::seconds kReaderPatience{10};

// While this lives, lines on stderr never wait: what does not fit now is kept, up to 64 KiB, and tried again with the next
// one. Afterwards they wait a tenth of the run's timeout, at most a second: the run must end in time. `stop_fd`, when readable,
// ends every waiting.
class SayingDuringRun {
 public:
  SayingDuringRun(int stop_fd, std::chrono::milliseconds timeout);
  ~SayingDuringRun();
  SayingDuringRun(const SayingDuringRun&) = delete;
  SayingDuringRun& operator=(const SayingDuringRun&) = delete;
};

// What the tool last printed on a terminal: our next line begins on a line of its own, with plain attributes.
void note_terminal_text(char last);

// Whether nothing, or a whole line, stands before the cursor of the terminal.
[[nodiscard]] bool at_line_start();
// Called before each line on stderr, by whoever prints it; empty: nothing is.
void before_each_line(std::function<void()> call);

// One line (a note, a warning) on stderr, behind "sallyport: ". From any thread.
void say(std::string_view text);
void say_hint(std::string_view text);

// These return the process's exit code: `code`, or what a failed write makes of it (141 when the reader is gone).
[[nodiscard]] int print_text(std::string_view text, int code);
[[nodiscard]] int print_record(const Json& record, int code);
// In pieces: the streams are never copied together with their escapes.
[[nodiscard]] int print_run_record(const JailedSubprocessResult& result, const Json& events, int code);
[[nodiscard]] bool in_build_log();
// In the asked format.
[[nodiscard]] int report(const Error& error, Format format);

}  // namespace sallyport::cli
