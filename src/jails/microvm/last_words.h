// Why a machine ended before there was a tool: QEMU's message, or the last line that the guest wrote to its console.
#pragma once

#include <string>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::microvm {

// For a program's stderr: a file that can never grow beyond a page.
[[nodiscard]] Result<UniqueFd> make_word_file();

// One line of printable ASCII; empty when there is no message. `scratch` may be negative.
[[nodiscard]] std::string last_words(int word_file, int scratch, const char* console);

}  // namespace sallyport::microvm
