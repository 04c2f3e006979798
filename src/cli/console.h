// Everything the CLI says in its own voice: data on stdout, the rest on stderr, nothing unprintable on either.
#pragma once

#include <string_view>

#include "cli/command_line.h"
#include "core/json.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// Descriptors 0, 1 and 2 are open afterwards, whatever we were started with: otherwise the next file opened would
// become our stdout. A descriptor that was closed fails on use (EBADF), as it should.
void secure_standard_streams();

// One line (a note, a warning) on stderr, behind "sallyport: ".
void say(std::string_view text);
void say_hint(std::string_view text);

// These return the process's exit code: `code`, or what a failed write makes of it (141 when the reader is gone).
[[nodiscard]] int print_text(std::string_view text, int code);
[[nodiscard]] int print_record(const Json& record, int code);
// In the asked format.
[[nodiscard]] int report(const Error& error, Format format);

}  // namespace sallyport::cli
