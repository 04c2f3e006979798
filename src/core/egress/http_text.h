// The small words of RFC 9110 and 9112.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/egress/ascii.h"

namespace sallyport {

// tchar
[[nodiscard]] bool is_token_char(char c);
[[nodiscard]] bool is_token(std::string_view text);
// Visible ASCII, and bytes above it, which clients send in paths.
inline bool is_target_char(char c) { return static_cast<unsigned char>(c) > 0x20 && c != '\x7f'; }
// Characters that a field's value, a chunk's extension or the inside of a request line may hold.
inline bool is_line_char(char c) { return static_cast<unsigned char>(c) >= 0x20 ? c != '\x7f' : c == '\t'; }

[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);
[[nodiscard]] bool starts_with_ignoring_case(std::string_view text, std::string_view lower_case_prefix);

// Cuts the first line off, without its CRLF.
[[nodiscard]] std::string_view take_line(std::string_view& text);

// "HTTP/1.1 200 …" or "HTTP/1.0 200 …": the code, from 100 to 599, or 0 for anything else.
[[nodiscard]] int status_in(std::string_view line);

struct Field {
  std::string_view name{};
  std::string_view value{};  // without the white space around it
};
// name ":" OWS value OWS: no folding, no space before the colon.
[[nodiscard]] std::optional<Field> parse_field(std::string_view line);
[[nodiscard]] bool names_field(const Field& field, std::string_view lower_case_name);
// True for a field that decides where a message ends or which host it is for, also when spelled with "_" for "-".
[[nodiscard]] bool is_framing_field(std::string_view name);
// A comma-separated list without some of its words.
[[nodiscard]] std::string without_options(std::string_view list, std::initializer_list<std::string_view> lower_case);

}  // namespace sallyport
