// Why a machine ended before there was a tool: what QEMU said, or the last that the guest wrote to its console.
#pragma once

#include <string>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::microvm {

// For a program's stderr: a file that cannot grow beyond a page, whatever is written to it.
[[nodiscard]] Result<UniqueFd> make_word_file();

// One line of printable ASCII; empty when nobody said anything. `scratch` may be negative.
[[nodiscard]] std::string last_words(int word_file, int scratch, const char* console);

}  // namespace sallyport::microvm
