// Reads a text that is one number and nothing else.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace sallyport {

// Digits of `base`, with a '-' before them where Number is signed. nullopt for anything else (a blank, a '+', no digit, a
// rest), and for what Number cannot hold.
template <std::integral Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || after != end) return std::nullopt;
  return number;
}

}  // namespace sallyport
