#include "spawn/owner/carry_hosts.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include "core/egress/address_book.h"
#include "core/egress/egress_rules.h"
#include "core/errors.h"
#include "spawn/wire/carried.h"

namespace sallyport::spawn {
namespace {

constexpr std::uint16_t kDnsPort = 53;  // always has sockets of its own

}  // namespace

Result<NetworkSpec> carried_network(const Plan& plan) {
  NetworkSpec network;
  if (plan.allowed_hosts.empty()) return network;
  const EgressRules rules(plan.allowed_hosts);
  for (const std::uint16_t port : rules.ports()) {
    if (port != kDnsPort) network.sockets.push_back({SOCK_STREAM, port});
  }
  network.carried = {.from = AddressBook::kFirstOfLoopback,
                     .count = static_cast<std::uint32_t>(rules.countable_names())};
  const std::size_t listening = network.sockets.size() * network.carried.count;
  if (listening <= wire::kMostCarryingSockets && network.sockets.size() <= wire::kMaxNetSockets) return network;
  return fail(invalid_request(
      "allowed_hosts",
      fmt::format("{} names at {} ports are more than this jail can have", network.carried.count,
                  network.sockets.size()),
      fmt::format(
          "names times ports are at most {}; a rule for all subdomains counts as {}; other jails have no such limit",
          wire::kMostCarryingSockets, EgressRules::kMostBelow)));
}

}  // namespace sallyport::spawn
