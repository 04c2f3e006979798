// "did you mean …?": the closest of a closed set of names.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sallyport {

// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest candidate if it is near enough for a typo (about a third of its length); the first of several equally
// near ones.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view typed,
                                                      std::span<const std::string_view> candidates);
// "did you mean 'git'?" or an empty string.
[[nodiscard]] std::string did_you_mean(std::string_view typed, std::span<const std::string_view> candidates);

}  // namespace sallyport
