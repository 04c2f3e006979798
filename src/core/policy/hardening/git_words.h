// Which words after a git command git may read as options.
#pragma once

#include <cstddef>
#include <vector>

#include "core/policy/hardening/git_commands.h"

namespace sallyport::hardening {

// Their indices, in order. Leaves out a word only when git certainly reads it as something else: a word after "--", and
// the value of an option that always takes the next word ("log -S --exec", "grep -e --help").
[[nodiscard]] std::vector<std::size_t> git_option_words(const GitCommand& command, Argv arguments);

}  // namespace sallyport::hardening
