#include "core/egress/http_text.h"

#include <algorithm>
#include <array>

namespace sallyport {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

bool is_token_char(char c) {
  return is_ascii_alnum(c) || (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_char); }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, ascii_lower, ascii_lower);
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower_case_prefix) {
  return equal_ignoring_case(text.substr(0, lower_case_prefix.size()), lower_case_prefix);
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find("\r\n");
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  return line;
}

int status_in(std::string_view line) {
  constexpr std::size_t kCodeAt = 9;
  constexpr std::size_t kCodeEnd = kCodeAt + 3;
  const bool plausible = (line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ")) && line.size() >= kCodeEnd &&
                         (line.size() == kCodeEnd || line[kCodeEnd] == ' ');
  if (!plausible) return 0;
  int code = 0;
  for (const char digit : line.substr(kCodeAt, kCodeEnd - kCodeAt)) {
    if (!is_ascii_digit(digit)) return 0;
    code = code * 10 + (digit - '0');
  }
  return code >= 100 && code <= 599 ? code : 0;
}

std::optional<Field> parse_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return std::nullopt;
  const std::string_view value = line.substr(colon + 1);
  if (!std::ranges::all_of(value, is_line_char)) return std::nullopt;
  return Field{.name = line.substr(0, colon), .value = trim(value)};
}

bool names_field(const Field& field, std::string_view lower_case_name) {
  return equal_ignoring_case(field.name, lower_case_name);
}

bool is_framing_field(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames = {"host", "content-length", "transfer-encoding", "upgrade"};
  const auto plain = [](char c) { return c == '_' ? '-' : ascii_lower(c); };
  return std::ranges::any_of(kNames,
                             [&](std::string_view known) { return std::ranges::equal(name, known, {}, plain); });
}

std::string without_options(std::string_view list, std::initializer_list<std::string_view> lower_case) {
  std::string kept;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view word = trim(list.substr(0, comma));
    const bool unwanted =
        std::ranges::any_of(lower_case, [&](std::string_view known) { return equal_ignoring_case(word, known); });
    if (!word.empty() && !unwanted) kept.append(kept.empty() ? "" : ", ").append(word);
    if (comma == std::string_view::npos) return kept;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace sallyport
