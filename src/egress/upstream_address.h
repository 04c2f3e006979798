// Which of a name's addresses we may connect to, and in which order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/egress/ip_address.h"
#include "egress/denial_log.h"

namespace sallyport {

struct VettedAddresses {
  std::vector<IpAddress> usable{};         // IPv6 first, then alternating families (RFC 8305)
  std::optional<DenialReason> why_none{};  // set when none is usable
  // For kSpecialAddress: of the first of them, or kMetadata when one is that.
  AddressKind special = AddressKind::kPublic;
};

// Drops every address that is neither public nor of a class that the rule admits, and those in `own`, this machine's,
// unless the rule admits private ones. A name with public and private addresses keeps the public ones: dropping is as
// safe as refusing, and split-horizon names still work.
[[nodiscard]] VettedAddresses vet_addresses(std::span<const IpAddress> found, std::span<const IpAddress> own,
                                            const HostRuleFields& rule = {});

// The addresses of this machine's interfaces, in the network namespace of the calling thread. On failure nullopt, and
// errno.
[[nodiscard]] std::optional<std::vector<IpAddress>> own_addresses();

}  // namespace sallyport
