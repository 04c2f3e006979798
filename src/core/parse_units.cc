#include "core/parse_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/errors.h"

namespace sallyport {
namespace {

using std::chrono::milliseconds;

struct DurationUnit {
  std::string_view suffix;
  std::uint64_t milliseconds;
};
constexpr auto kDurationUnits =
    std::to_array<DurationUnit>({DurationUnit{"ms", 1}, DurationUnit{"s", 1000}, DurationUnit{"m", 60'000},
                                 DurationUnit{"min", 60'000}, DurationUnit{"h", 3'600'000}});

struct ByteUnit {
  std::string_view suffix;
  unsigned shift;
};
// In any case: "512m" and "512MB" are what people bring from docker and from disks. All are units of 1024.
constexpr auto kByteUnits = std::to_array<ByteUnit>(
    {ByteUnit{"", 0}, ByteUnit{"k", 10}, ByteUnit{"m", 20}, ByteUnit{"g", 30}, ByteUnit{"t", 40}});

constexpr std::string_view kDurationHint = "write a number and a unit: 500ms, 60s, 1.5s, 2m, 1h";
constexpr std::string_view kBytesHint = "write a number and a unit of 1024: 512K, 64M, 0.5G, 1GiB";

struct Decimal {
  std::uint64_t whole = 0;
  std::uint64_t thousandths = 0;
  std::string_view rest;  // what follows the number
};

// Digits, optionally a point and one to three more digits. No sign, no exponent, no white space.
std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal number;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number.whole);
  if (error != std::errc{}) return std::nullopt;
  number.rest = text.substr(static_cast<std::size_t>(after - text.data()));
  if (!number.rest.starts_with('.')) return number;
  number.rest.remove_prefix(1);
  std::uint64_t weight = 100;
  while (!number.rest.empty() && number.rest.front() >= '0' && number.rest.front() <= '9') {
    if (weight == 0) return std::nullopt;
    number.thousandths += weight * static_cast<std::uint64_t>(number.rest.front() - '0');
    weight /= 10;
    number.rest.remove_prefix(1);
  }
  if (weight == 100) return std::nullopt;
  return number;
}

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_letters(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, lower_letter, lower_letter);
}

// "MiB" and "MB" are "M"; "B" is nothing.
std::string_view plain_byte_suffix(std::string_view suffix) {
  if (suffix.empty() || lower_letter(suffix.back()) != 'b') return suffix;
  suffix.remove_suffix(1);
  if (suffix.size() == 2 && lower_letter(suffix.back()) == 'i') suffix.remove_suffix(1);
  return suffix;
}

Error bad_unit_text(std::string_view field, std::string_view text, std::string_view kind, std::string_view hint) {
  return invalid_request(field, fmt::format("'{}' is not {}", text, kind), hint);
}

}  // namespace

Result<milliseconds> parse_duration(std::string_view text, std::string_view field) {
  const std::optional<Decimal> number = read_decimal(text);
  if (!number) return fail(bad_unit_text(field, text, "a duration", kDurationHint));
  for (const DurationUnit& unit : kDurationUnits) {
    if (number->rest != unit.suffix) continue;
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    // Half of the range for the whole part leaves room for the fraction.
    if (number->whole > kMost / 2 / unit.milliseconds) {
      return fail(invalid_request(field, fmt::format("'{}' is too long", text), kDurationHint));
    }
    const std::uint64_t fraction = number->thousandths * unit.milliseconds / 1000;
    return milliseconds(static_cast<std::int64_t>(number->whole * unit.milliseconds + fraction));
  }
  return fail(bad_unit_text(field, text, "a duration", kDurationHint));
}

Result<ByteCount> parse_bytes(std::string_view text, std::string_view field) {
  const std::optional<Decimal> number = read_decimal(text);
  if (!number) {
    const bool starts_well = !text.empty() && text.front() >= '0' && text.front() <= '9';
    return fail(starts_well && text.find_first_not_of("0123456789") == std::string_view::npos
                    ? invalid_request(field, fmt::format("'{}' is too large", text), kBytesHint)
                    : bad_unit_text(field, text, "a size", kBytesHint));
  }
  const std::string_view suffix = plain_byte_suffix(number->rest);
  for (const ByteUnit& unit : kByteUnits) {
    if (!same_letters(suffix, unit.suffix)) continue;
    // Half of the range for the whole part leaves room for the fraction.
    if (number->whole > (std::numeric_limits<std::uint64_t>::max() >> unit.shift >> 1U) && number->thousandths != 0) {
      return fail(invalid_request(field, fmt::format("'{}' is too large", text), kBytesHint));
    }
    if (number->whole > (std::numeric_limits<std::uint64_t>::max() >> unit.shift)) {
      return fail(invalid_request(field, fmt::format("'{}' is too large", text), kBytesHint));
    }
    if (unit.shift == 0 && number->thousandths != 0) break;  // half a byte
    return ByteCount{(number->whole << unit.shift) + ((number->thousandths << unit.shift) / 1000)};
  }
  return fail(bad_unit_text(field, text, "a size", kBytesHint));
}

}  // namespace sallyport
