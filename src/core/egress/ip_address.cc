#include "core/egress/ip_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace sallyport {
namespace {

constexpr std::size_t kV6Groups = 8;

int hex_digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// One part of what inet_aton reads: 0x hex, 0 octal, otherwise decimal.
std::optional<std::uint32_t> parse_v4_part(std::string_view text) {
  unsigned base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const bool hex = text[1] == 'x' || text[1] == 'X';
    base = hex ? 16 : 8;
    text.remove_prefix(hex ? 2 : 1);
  }
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const int digit = hex_digit_value(c);
    if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
    value = value * base + static_cast<unsigned>(digit);
    if (value > UINT32_MAX) return std::nullopt;
  }
  return static_cast<std::uint32_t>(value);
}

IpAddress v4_from(std::uint32_t value) {
  return IpAddress::v4(static_cast<std::uint8_t>(value >> 24), static_cast<std::uint8_t>(value >> 16),
                       static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value));
}

std::optional<IpAddress> parse_v4(std::string_view text) {
  // inet_aton does not take a trailing dot, but URL parsers do.
  if (text.ends_with('.')) text.remove_suffix(1);
  std::uint32_t value = 0;
  for (unsigned part = 0; part < 4; ++part) {
    const std::size_t dot = text.find('.');
    const std::optional<std::uint32_t> number = parse_v4_part(text.substr(0, dot));
    if (!number) return std::nullopt;
    if (dot == std::string_view::npos) {
      // The last part fills all bytes that are left.
      const unsigned bits = 32 - 8 * part;
      if (bits < 32 && *number >> bits != 0) return std::nullopt;
      return v4_from(value | *number);
    }
    if (*number > 255) return std::nullopt;
    value |= *number << (24 - 8 * part);
    text.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

// The IPv4 at the end of an IPv6 address: four decimal numbers, no leading zeros (RFC 4291, as inet_pton reads it).
bool parse_dotted_quad(std::string_view text, std::span<std::uint8_t, 4> bytes) {
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos || dot == 0 || dot > 3 || (dot > 1 && text[0] == '0')) return false;
    unsigned value = 0;
    for (const char c : text.substr(0, dot)) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    if (value > 255) return false;
    bytes[i] = static_cast<std::uint8_t>(value);
    text.remove_prefix(std::min(text.size(), dot + 1));
  }
  return text.empty();
}

std::optional<std::uint16_t> parse_group(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  unsigned value = 0;
  for (const char c : text) {
    const int digit = hex_digit_value(c);
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<unsigned>(digit);
  }
  return static_cast<std::uint16_t>(value);
}

struct V6Groups {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t size = 0;  // in bytes
};

// Groups between colons, none of them empty. Only the part that ends the address may end in an IPv4.
std::optional<V6Groups> parse_groups(std::string_view text, bool is_end) {
  V6Groups groups;
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    const bool last = colon == std::string_view::npos;
    if (last && is_end && part.find('.') != std::string_view::npos) {
      if (groups.size > 12) return std::nullopt;
      if (!parse_dotted_quad(part, std::span(groups.bytes).subspan(groups.size).first<4>())) return std::nullopt;
      groups.size += 4;
      return groups;
    }
    const std::optional<std::uint16_t> group = parse_group(part);
    if (!group || groups.size == 2 * kV6Groups) return std::nullopt;
    groups.bytes[groups.size++] = static_cast<std::uint8_t>(*group >> 8);
    groups.bytes[groups.size++] = static_cast<std::uint8_t>(*group);
    if (last) return groups;
    text.remove_prefix(colon + 1);
    if (text.empty()) return std::nullopt;  // "1:2:"
  }
  return groups;
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  const std::size_t gap = text.find("::");
  const bool has_gap = gap != std::string_view::npos;
  const std::optional<V6Groups> front = parse_groups(text.substr(0, gap), !has_gap);
  const std::optional<V6Groups> back = parse_groups(has_gap ? text.substr(gap + 2) : std::string_view(), true);
  if (!front || !back) return std::nullopt;
  const std::size_t written = front->size + back->size;
  // "::" stands for at least one group.
  if (has_gap ? written > 14 : written != 16) return std::nullopt;
  IpAddress address{.v6 = true, .bytes = front->bytes};
  std::copy_n(back->bytes.begin(), back->size, address.bytes.end() - static_cast<std::ptrdiff_t>(back->size));
  return address;
}

// "%eth0" means something on one machine only.
bool drop_zone(std::string_view& text) {
  const std::size_t percent = text.find('%');
  if (percent == std::string_view::npos) return true;
  const std::string_view zone = text.substr(percent + 1);
  text = text.substr(0, percent);
  return !zone.empty() && std::ranges::all_of(zone, [](char c) { return c > ' ' && c < '\x7f' && c != ']'; });
}

struct ZeroRun {
  std::size_t begin = kV6Groups;
  std::size_t size = 0;
};

ZeroRun longest_zero_run(const std::array<unsigned, kV6Groups>& groups) {
  ZeroRun best;
  for (std::size_t i = 0; i < kV6Groups;) {
    std::size_t end = i;
    while (end < kV6Groups && groups[end] == 0) ++end;
    // A single zero group is written out (RFC 5952, 4.2.2).
    if (end - i > std::max<std::size_t>(best.size, 1)) best = {.begin = i, .size = end - i};
    i = std::max(end, i + 1);
  }
  return best;
}

}  // namespace

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  if (bracketed) text = text.substr(1, text.size() - 2);
  if (text.find(':') == std::string_view::npos) return bracketed ? std::nullopt : parse_v4(text);
  if (!drop_zone(text)) return std::nullopt;
  return parse_v6(text);
}

std::string ip_address_text(const IpAddress& address) {
  const std::array<std::uint8_t, 16>& b = address.bytes;
  if (!address.v6) return fmt::format("{}.{}.{}.{}", b[0], b[1], b[2], b[3]);
  const bool mapped = std::all_of(b.begin(), b.begin() + 10, [](std::uint8_t byte) { return byte == 0; }) &&
                      b[10] == 0xff && b[11] == 0xff;
  if (mapped) return fmt::format("::ffff:{}.{}.{}.{}", b[12], b[13], b[14], b[15]);

  std::array<unsigned, kV6Groups> groups{};
  for (std::size_t i = 0; i < kV6Groups; ++i) groups[i] = static_cast<unsigned>(b[2 * i] << 8 | b[2 * i + 1]);
  const ZeroRun zeros = longest_zero_run(groups);
  std::string text;
  for (std::size_t i = 0; i < kV6Groups; ++i) {
    if (i == zeros.begin) {
      text += "::";
      i += zeros.size - 1;
      continue;
    }
    if (!text.empty() && !text.ends_with(':')) text += ':';
    fmt::format_to(std::back_inserter(text), "{:x}", groups[i]);
  }
  return text;
}

}  // namespace sallyport
