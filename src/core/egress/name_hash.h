// Allows lookups by std::string_view in a map keyed by std::string, without a copy.
#pragma once

#include <functional>
#include <string_view>

namespace sallyport {

struct NameHash {
  using is_transparent = void;
  [[nodiscard]] std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
};

}  // namespace sallyport
