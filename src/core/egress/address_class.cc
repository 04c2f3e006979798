#include <algorithm>
#include <array>

#include "core/egress/ip_address.h"
#include "sallyport/egress.h"

namespace sallyport {
namespace {

// In the enum's order.
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

std::optional<AddressClass> class_of(AddressKind kind) {
  switch (kind) {
    case AddressKind::kPrivate:
      return AddressClass::kPrivate;
    case AddressKind::kShared:
      return AddressClass::kShared;
    case AddressKind::kLoopback:
      return AddressClass::kLoopback;
    case AddressKind::kLinkLocal:
      return AddressClass::kLinkLocal;
    case AddressKind::kSiteLocal:
      return AddressClass::kSiteLocal;
    case AddressKind::kBenchmark:
      return AddressClass::kBenchmark;
    case AddressKind::kDocumentation:
      return AddressClass::kDocumentation;
    case AddressKind::kReserved:
      return AddressClass::kReserved;
    case AddressKind::kPublic:
    case AddressKind::kMetadata:
    case AddressKind::kUnspecified:
    case AddressKind::kMulticast:
    case AddressKind::kBroadcast:
    case AddressKind::kDiscard:
      break;
  }
  return std::nullopt;
}

std::string_view name_of(AddressKind kind) {
  switch (kind) {
    case AddressKind::kPublic:
      return "public";
    case AddressKind::kMetadata:
      return "metadata";
    case AddressKind::kUnspecified:
      return "unspecified";
    case AddressKind::kMulticast:
      return "multicast";
    case AddressKind::kBroadcast:
      return "broadcast";
    case AddressKind::kDiscard:
      return "discard";
    case AddressKind::kPrivate:
    case AddressKind::kShared:
    case AddressKind::kLoopback:
    case AddressKind::kLinkLocal:
    case AddressKind::kSiteLocal:
    case AddressKind::kBenchmark:
    case AddressKind::kDocumentation:
    case AddressKind::kReserved:
      break;
  }
  const std::optional<AddressClass> admissible = class_of(kind);
  return admissible ? name_of(*admissible) : "unknown";
}

bool rule_admits(const HostRuleFields& rule, AddressKind kind) {
  if (kind == AddressKind::kPublic) return true;
  const std::optional<AddressClass> address_class = class_of(kind);
  if (!address_class) return false;
  return rule.any_class || (rule.may_be_private && is_private(*address_class)) ||
         std::ranges::find(rule.also_classes, *address_class) != rule.also_classes.end();
}

}  // namespace sallyport
