#include <algorithm>
#include <array>

#include "core/egress/ip_address.h"
#include "sallyport/egress.h"

namespace sallyport {
namespace {

// In the enum's order; the names are those of special_addresses.cc.
constexpr auto kClassNames = std::to_array<std::string_view>(
    {"private", "shared", "loopback", "link-local", "site-local", "benchmark", "documentation", "reserved"});

bool is_private(AddressClass address_class) {
  return address_class == AddressClass::kPrivate || address_class == AddressClass::kShared ||
         address_class == AddressClass::kLoopback || address_class == AddressClass::kSiteLocal;
}

}  // namespace

bool is_address_class(AddressClass address_class) {
  return static_cast<std::size_t>(address_class) < kClassNames.size();
}

std::string_view name_of(AddressClass address_class) { return kClassNames[static_cast<std::size_t>(address_class)]; }

std::optional<AddressClass> address_class_named(std::string_view name) {
  const auto found = std::ranges::find(kClassNames, name);
  if (found == kClassNames.end()) return std::nullopt;
  return static_cast<AddressClass>(found - kClassNames.begin());
}

bool rule_admits(const HostRuleFields& rule, std::string_view why_not_public) {
  const std::optional<AddressClass> address_class = address_class_named(why_not_public);
  if (!address_class) return false;
  return rule.any_class || (rule.may_be_private && is_private(*address_class)) ||
         std::ranges::find(rule.also_classes, *address_class) != rule.also_classes.end();
}

}  // namespace sallyport
