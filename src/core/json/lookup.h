// Reads members of untrusted JSON. Nothing throws, whatever its shape: a member that is missing or of another type
// gives null, empty or 0.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/json/json.h"

namespace sallyport {

[[nodiscard]] inline const Json& member(const Json& of, const char* name) {
  static const Json null;
  if (!of.is_object()) return null;
  const auto found = of.find(name);
  return found == of.end() ? null : *found;
}

[[nodiscard]] inline bool has_member(const Json& of, const char* name) { return !member(of, name).is_null(); }

[[nodiscard]] inline std::string text_in(const Json& of, const char* name) {
  const Json& found = member(of, name);
  return found.is_string() ? found.get<std::string>() : std::string();
}

[[nodiscard]] inline std::uint64_t count_in(const Json& of, const char* name) {
  const Json& found = member(of, name);
  return found.is_number_unsigned() ? found.get<std::uint64_t>() : 0;
}

[[nodiscard]] inline double number_in(const Json& of, const char* name) {
  const Json& found = member(of, name);
  return found.is_number() ? found.get<double>() : 0;
}

// The member's items, if it is a list.
[[nodiscard]] inline const Json& items_in(const Json& of, const char* name) {
  static const Json none = Json::array();
  const Json& found = member(of, name);
  return found.is_array() ? found : none;
}

}  // namespace sallyport
