// A tool's JSON, which may be hostile: any size up to the gate's output cap, any depth, any number of values. Checked in a
// first pass that stores nothing, so that what is built afterwards is bounded: at most kMostValues values, about 200 MB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport::jobs {

using InJson = nlohmann::json;

inline constexpr std::size_t kDeepestJson = 64;
inline constexpr std::size_t kMostValues = 2'000'000;

// The value, or why it is none: cut off, too deep, too many values, no JSON.
[[nodiscard]] std::expected<InJson, std::string> parse_bounded(std::string_view text);

// Members of the requested type, or null: we check only the needed parts of a tool's schema. None of these throws.
[[nodiscard]] const InJson* member(const InJson& object, std::string_view name);
[[nodiscard]] const InJson* array_member(const InJson& object, std::string_view name);
[[nodiscard]] const std::string* string_member(const InJson& object, std::string_view name);
// A number from 0 to 2^31 - 1.
[[nodiscard]] std::optional<std::uint32_t> number_member(const InJson& object, std::string_view name);

}  // namespace sallyport::jobs
