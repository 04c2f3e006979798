#include "egress/upstream_address.h"

#include <ifaddrs.h>

#include <algorithm>

#include "egress/endpoint.h"

namespace sallyport {
namespace {

// Do not try all of a name's hundreds of addresses.
constexpr std::size_t kMostTried = 10;

std::vector<IpAddress> taking_turns(std::span<const IpAddress> addresses) {
  std::vector<IpAddress> v6;
  std::vector<IpAddress> v4;
  for (const IpAddress& address : addresses) (address.v6 ? v6 : v4).push_back(address);
  std::vector<IpAddress> ordered;
  for (std::size_t i = 0; i < std::max(v6.size(), v4.size()); ++i) {
    if (i < v6.size()) ordered.push_back(v6[i]);
    if (i < v4.size()) ordered.push_back(v4[i]);
  }
  if (ordered.size() > kMostTried) ordered.resize(kMostTried);
  return ordered;
}

}  // namespace

VettedAddresses vet_addresses(std::span<const IpAddress> found, std::span<const IpAddress> own,
                              const HostRuleFields& rule) {
  std::vector<IpAddress> usable;
  bool own_seen = false;
  VettedAddresses vetted;
  const bool own_too = rule.may_be_private || rule.any_class ||
                       std::ranges::find(rule.also_classes, AddressClass::kLoopback) != rule.also_classes.end();
  for (const IpAddress& address : found) {
    const AddressKind kind = kind_of(address);
    if (!rule_admits(rule, kind)) {
      // A metadata service decides the message: no option would help.
      if (vetted.special == AddressKind::kPublic || kind == AddressKind::kMetadata) vetted.special = kind;
    } else if (!own_too && std::ranges::find(own, address) != own.end()) {
      own_seen = true;
    } else {
      usable.push_back(address);
    }
  }
  vetted.usable = taking_turns(usable);
  if (vetted.usable.empty()) {
    vetted.why_none = found.empty() ? DenialReason::kNameDoesNotResolve
                      : own_seen    ? DenialReason::kOwnAddress
                                    : DenialReason::kSpecialAddress;
  }
  return vetted;
}

std::optional<std::vector<IpAddress>> own_addresses() {
  std::vector<IpAddress> own;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return std::nullopt;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    if (const std::optional<Endpoint> endpoint = endpoint_of(entry->ifa_addr)) own.push_back(endpoint->address);
  }
  ::freeifaddrs(list);
  return own;
}

}  // namespace sallyport
