#include "core/text/did_you_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace sallyport {
namespace {

// Longer input is no typo, and the distance costs length × length.
constexpr std::size_t kLongestTyped = 64;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string_view> nearest(std::string_view typed, std::span<const std::string_view> candidates) {
  if (typed.empty() || typed.size() > kLongestTyped) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(typed, candidate);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(typed.size(), candidate.size()) / 3);
    // Replacing a whole short name is no typo: "x" is not a typo of "y".
    const bool near = distance <= allowed && distance < candidate.size() && distance < typed.size();
    if (near && (!best || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string_view> candidates) {
  const std::optional<std::string_view> name = nearest(typed, candidates);
  return name ? fmt::format("did you mean '{}'?", *name) : std::string();
}

}  // namespace sallyport
