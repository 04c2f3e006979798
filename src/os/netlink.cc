#include "os/netlink.h"

#include <array>

#include "os/netlink_batch.h"

namespace sallyport {
namespace {

namespace abi = netlink_abi;
using namespace nft;  // NOLINT(google-build-using-namespace): the words of one netlink batch

constexpr int kLoopbackIndex = 1;  // in every namespace
constexpr std::string_view kChainText = "output";
constexpr std::int32_t kDestinationNat = -100;  // NF_IP_PRI_NAT_DST, also for IPv6

// Accepts connections to the tool's own servers on loopback.
void add_loopback_rules(Batch& batch) {
  batch.add_rule(kChainText, 0, [](NetlinkMessage& m) {
    only_to(m, kV4LoopbackNet);
    accept(m);
  });
  batch.add_rule(kChainText, 0, [](NetlinkMessage& m) {
    only_to(m, kV6Loopback);
    accept(m);
  });
}

void add_listening_rule(Batch& batch, std::uint16_t port) {
  batch.add_rule(kChainText, 0, [&](NetlinkMessage& m) {
    only_to_port(m, abi::kProtocolTcp, port);
    accept(m);
  });
}

}  // namespace

NetlinkDatagram local_route(bool v6) {
  const abi::RouteMessage route{.family = v6 ? abi::kFamilyV6 : abi::kFamilyV4,
                                .table = abi::kTableLocal,
                                .protocol = abi::kProtocolStatic,
                                .scope = abi::kScopeHost,
                                .type = abi::kTypeLocal};
  NetlinkMessage message(abi::kNewRoute, abi::kRequest | abi::kAck | abi::kCreate, 1, route);
  message.value(abi::kRouteTable, std::uint32_t{abi::kTableLocal})
      .value(abi::kRouteOutInterface, std::uint32_t{kLoopbackIndex});
  return {.protocol = abi::kRoute, .bytes = std::move(message).finish()};
}

NetlinkDatagram prohibit_groups(bool v6) {
  // 224.0.0.0/3: multicast, reserved addresses, and broadcast.
  const abi::RouteMessage route{.family = v6 ? abi::kFamilyV6 : abi::kFamilyV4,
                                .destination_bits = static_cast<std::uint8_t>(v6 ? 8 : 3),
                                .table = abi::kTableLocal,
                                .protocol = abi::kProtocolStatic,
                                .type = abi::kTypeProhibit};
  NetlinkMessage message(abi::kNewRoute, abi::kRequest | abi::kAck | abi::kCreate, 1, route);
  if (v6) {
    message.value(abi::kRouteDestination, std::array<std::uint8_t, 16>{0xff});
  } else {
    message.value(abi::kRouteDestination, std::array<std::uint8_t, 4>{224});
  }
  message.value(abi::kRouteTable, std::uint32_t{abi::kTableLocal});
  return {.protocol = abi::kRoute, .bytes = std::move(message).finish()};
}

NetlinkDatagram redirect_other_ports(std::span<const std::uint16_t> listening, std::uint16_t catch_all) {
  Batch batch;
  batch.add_table();
  batch.add_hooked_chain(kChainText, "nat", kDestinationNat);
  add_loopback_rules(batch);
  for (const std::uint16_t port : listening) add_listening_rule(batch, port);
  batch.add_rule(kChainText, abi::kAck, [&](NetlinkMessage& m) {
    only_protocol(m, abi::kProtocolTcp);
    redirect_to(m, catch_all);
  });
  return {.protocol = abi::kNetfilter, .bytes = std::move(batch).finish()};
}

}  // namespace sallyport
