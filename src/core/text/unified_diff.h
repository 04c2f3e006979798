// What changed between two texts, line by line, in the format of `diff -u` and `git apply`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport {

inline constexpr std::size_t kLargestDiffText = std::size_t{1} << 20U;

// The hunks alone, without the two lines that name the files; empty when nothing changed. nullopt: one of them is no
// text (it has a NUL) or is larger than kLargestDiffText, or too many lines differ (the cost is lines times
// differences, Myers 1986).
[[nodiscard]] std::optional<std::string> unified_hunks(std::string_view before, std::string_view after);

}  // namespace sallyport
