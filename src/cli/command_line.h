// Turns the words of the command line into an action. Pure: touches no file, no environment, no clock, and never
// throws, whatever the arguments are (a fuzz target feeds it).
//
// Written by hand rather than with CLI11, measured on 2 cores, release, static libstdc++: start-up 1.3 ms with CLI11
// and two verbs' options declared against 0.8 ms without (a bare /bin/true: 0.95), 1.7 MB more binary, 11 s more to
// compile; and its messages are sentences of its own, without our hints. The table in call_options.cc is shorter than
// its set-up.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/format.h"
#include "cli/verb.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// `args` without the program's own name. Errors are InvalidRequest, InvalidProbeName or DisallowedSubprocessError (no
// tool); `format` is the one to report them in (Verb::parse).
[[nodiscard]] Result<Action> parse_command_line(Args args, Format& format);

// For verbs with their own closed list of words.
[[nodiscard]] Error unknown_word(std::string_view what, std::string_view word,
                                 std::span<const std::string_view> choice);
[[nodiscard]] Error superfluous_word(std::string_view word);

}  // namespace sallyport::cli
