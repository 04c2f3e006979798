// IP addresses as values, in every spelling that programs accept, and which of them are not public.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/denial.h"
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

// kPublic for a public unicast address only. For v4-mapped, v4-compatible, NAT64 (also local-use), 6to4 and Teredo
// addresses, the embedded IPv4 decides.
[[nodiscard]] AddressKind kind_of(const IpAddress& address);
// The class by which a rule can admit the kind; nullopt when no rule can, and for kPublic, which needs none.
[[nodiscard]] std::optional<AddressClass> class_of(AddressKind kind);
// The class with that name, as rules write it.
[[nodiscard]] std::optional<AddressClass> address_class_named(std::string_view name);
[[nodiscard]] bool is_address_class(AddressClass address_class);  // false for a value that was cast from a number
// True when a name of this rule may lead to an address of this kind.
[[nodiscard]] bool rule_admits(const HostRuleFields& rule, AddressKind kind);

}  // namespace sallyport
