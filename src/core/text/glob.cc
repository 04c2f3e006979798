#include "core/text/glob.h"

#include <cstddef>
#include <vector>

namespace sallyport {
namespace {

std::vector<std::string_view> components_of(std::string_view path) {
  std::vector<std::string_view> components;
  while (!path.empty()) {
    const std::size_t end = path.find('/');
    if (end != 0) components.push_back(path.substr(0, end));
    if (end == std::string_view::npos) break;
    path.remove_prefix(end + 1);
  }
  return components;
}

// Backtracks to the last star only.
bool matches_component(std::string_view pattern, std::string_view name) {
  std::size_t in_pattern = 0;
  std::size_t in_name = 0;
  std::size_t star = std::string_view::npos;
  std::size_t spanned = 0;
  while (in_name < name.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      spanned = in_name;
    } else if (in_pattern < pattern.size() && (pattern[in_pattern] == '?' || pattern[in_pattern] == name[in_name])) {
      ++in_pattern;
      ++in_name;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      in_name = ++spanned;
    } else {
      return false;
    }
  }
  return pattern.substr(in_pattern).find_first_not_of('*') == std::string_view::npos;
}

}  // namespace

bool matches_path(std::string_view pattern, std::string_view path) {
  const std::vector<std::string_view> wanted = components_of(pattern);
  const std::vector<std::string_view> given = components_of(path);
  if (wanted.empty()) return false;
  // reached[i]: the components of the path so far match the first i of the pattern.
  std::vector<bool> reached(wanted.size() + 1, false);
  reached[0] = true;
  const auto skip_spans = [&] {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (reached[i] && wanted[i] == "**") reached[i + 1] = true;
    }
  };
  skip_spans();
  for (std::size_t at = 0; at < given.size(); ++at) {
    // Everything below a matching directory matches, too.
    if (at > 0 && reached[wanted.size()]) return true;
    std::vector<bool> next(wanted.size() + 1, false);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!reached[i]) continue;
      if (wanted[i] == "**") {
        next[i] = true;
      } else if (matches_component(wanted[i], given[at])) {
        next[i + 1] = true;
      }
    }
    reached = std::move(next);
    skip_spans();
  }
  return reached[wanted.size()];
}

}  // namespace sallyport
