// Which of the words behind a git command git may read as options.
#pragma once

#include <cstddef>
#include <vector>

#include "core/policy/hardening/git_commands.h"

namespace sallyport::hardening {

// Their places, in order. A word is left out only when git surely takes it for something else: what stands behind "--",
// and the value of an option that takes the next word whatever it looks like ("log -S --exec", "grep -e --help").
[[nodiscard]] std::vector<std::size_t> git_option_words(const GitCommand& command, Argv arguments);

}  // namespace sallyport::hardening
