// IP addresses as values, in every spelling that programs accept, and which of them are not public.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/egress.h"

namespace sallyport {

struct IpAddress {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  // v4 in the first four

  [[nodiscard]] static IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
    return {.v6 = false, .bytes = {a, b, c, d}};
  }
  auto operator<=>(const IpAddress&) const = default;
};

// Dotted, decimal, octal, hex and short IPv4 as inet_aton reads them ("0x7f.1", "2130706433"); IPv6 with or without
// brackets, with embedded IPv4, and with a zone (which it drops). Nothing else.
[[nodiscard]] std::optional<IpAddress> parse_ip_address(std::string_view text);
// Canonical: dotted decimal, or RFC 5952.
[[nodiscard]] std::string ip_address_text(const IpAddress& address);

// nullopt when the address is a public unicast one; otherwise what it is ("loopback", "private", "link-local",
// "metadata", "multicast", …). For v4-mapped, v4-compatible, NAT64 (also local-use), 6to4 and Teredo addresses, the
// embedded IPv4 decides.
[[nodiscard]] std::optional<std::string_view> why_not_public(const IpAddress& address);
// The class with that name; nullopt when no rule can admit it.
[[nodiscard]] std::optional<AddressClass> address_class_named(std::string_view name);
// True when the rule admits an address with this result of why_not_public().
[[nodiscard]] bool is_address_class(AddressClass address_class);  // false for a value that was cast from a number
[[nodiscard]] bool rule_admits(const HostRuleFields& rule, std::string_view why_not_public);

}  // namespace sallyport
