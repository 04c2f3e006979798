// Text from outside, made safe to show to a person: one line, no terminal escapes, no bidi tricks, valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace sallyport {

// Control characters become \n, \t, \r or \xNN, invisible and direction-changing code points \u{NNNN}, bytes that are
// not UTF-8 \xNN; keeps everything else. The result is for reading, not for parsing back: a backslash stays as it is,
// so the function is idempotent.
[[nodiscard]] std::string printable(std::string_view text);

// True when a code point reorders, hides or breaks up the text around it and is itself invisible. For whole documents,
// so joiners and variation selectors, which scripts and emoji need, do not count.
[[nodiscard]] bool hides_text(char32_t code_point);

}  // namespace sallyport
