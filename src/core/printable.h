// Text from outside, made safe to show to a person: one line, no terminal escapes, no bidi tricks, valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace sallyport {

// Control characters become \n, \t, \r or \xNN, invisible and direction-changing code points \u{NNNN}, bytes that are
// not UTF-8 \xNN; all else is kept. For reading, not for parsing back: a backslash stays as it is, so the function is
// idempotent.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace sallyport
