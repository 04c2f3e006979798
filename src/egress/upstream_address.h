// Which of a name's addresses may be connected to, and in which order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/egress/ip_address.h"
#include "egress/denial_log.h"

namespace sallyport {

struct VettedAddresses {
  std::vector<IpAddress> usable{};         // IPv6 first, families taking turns (RFC 8305)
  std::optional<DenialReason> why_none{};  // set when none is usable
};

// Whether addresses of private networks and of this machine will do. Metadata, link-local and other special ones never
// do.
enum class AddressScope { kPublic, kPrivateToo };

// Drops every address that is not a public one, or is one of `own`. A name with public and private addresses keeps the
// public ones: dropping is as safe as refusing, and split-horizon names go on working.
[[nodiscard]] VettedAddresses vet_addresses(std::span<const IpAddress> found, std::span<const IpAddress> own,
                                            AddressScope scope = AddressScope::kPublic);

// The addresses of this machine's interfaces, in the network namespace of the calling thread. nullopt, and errno: cannot
// be told.
[[nodiscard]] std::optional<std::vector<IpAddress>> own_addresses();

}  // namespace sallyport
