// Makes text from an untrusted repo or a tool safe, for one kind of reader each.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport::jobs {

[[nodiscard]] bool is_utf8(std::string_view bytes);
// The code point at `at` and its length in bytes; an invalid byte is U+FFFD of length 1.
struct CodePoint {
  char32_t value = 0xFFFD;
  std::size_t length = 1;
  bool valid = false;
};
[[nodiscard]] CodePoint code_point_at(std::string_view bytes, std::size_t at);
// How many code points the first `bytes_count` bytes are.
[[nodiscard]] std::size_t count_code_points(std::string_view bytes);

// One line, no terminal escapes, no bidi tricks, valid UTF-8: \n, \xNN, \u{NNNN}.
[[nodiscard]] std::string shown(std::string_view text);
// For the text of an HTML element or a quoted attribute, of what `shown` leaves.
[[nodiscard]] std::string html(std::string_view text);
// For a cell of a Markdown table, of what `shown` leaves. Nothing in it is markup.
[[nodiscard]] std::string markdown(std::string_view text);
// A relative URI reference for a path: every byte that is not unreserved or '/' as %NN.
[[nodiscard]] std::string uri_of_path(std::string_view path);
// A JSON string with its quotes, of what `shown` leaves for bytes that are no UTF-8; valid UTF-8 is kept as it is.
void append_json_string(std::string& out, std::string_view text);

// Every word of 12 or more letters and digits mixed becomes "[redacted]": the end of a tool's output may quote a
// secret.
[[nodiscard]] std::string scrub_tokens(std::string_view text);

[[nodiscard]] std::optional<std::string> base64_decode(std::string_view text);

}  // namespace sallyport::jobs
