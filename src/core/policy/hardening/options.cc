#include "core/policy/hardening/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"

namespace sallyport::hardening {

LongOption split_long(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return {.name = argument, .value = {}};
  return {.name = argument.substr(0, equals), .value = argument.substr(equals + 1), .has_value = true};
}

bool may_abbreviate(std::string_view argument, std::string_view option) {
  const std::string_view name = split_long(argument).name;
  return is_long(name) && name.size() > 2 && option.starts_with(name);
}

bool has_short(std::string_view argument, char flag, std::string_view with_value) {
  if (!is_option(argument) || is_long(argument)) return false;
  for (const char letter : argument.substr(1)) {
    if (letter == flag) return true;
    if (with_value.find(letter) != std::string_view::npos) return false;
  }
  return false;
}

bool stays_below(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (path.substr(0, slash) == "..") return false;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return true;
}

Error refused_argument(std::string_view tool, std::string_view argument, std::string_view why, std::string_view hint) {
  constexpr std::size_t kShown = 80;
  const std::string_view shown = argument.substr(0, kShown);
  return invalid_request(
      "argv",
      fmt::format("{} may not be given '{}{}': {}", tool, shown, shown.size() < argument.size() ? "…" : "", why), hint);
}

std::vector<std::string> insert_after(Argv argv, std::size_t skip, std::span<const std::string_view> fixed) {
  std::vector<std::string> out;
  out.reserve(argv.size() + fixed.size());
  const std::size_t head = std::min(argv.size(), skip + 1);
  out.insert(out.end(), argv.begin(), argv.begin() + static_cast<std::ptrdiff_t>(head));
  out.insert(out.end(), fixed.begin(), fixed.end());
  out.insert(out.end(), argv.begin() + static_cast<std::ptrdiff_t>(head), argv.end());
  return out;
}

}  // namespace sallyport::hardening
