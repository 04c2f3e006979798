// Refusals that the kernel makes itself, before a connection exists, and reports to the run's owner.
#include <algorithm>
#include <cstring>

#include "core/egress/byte_reader.h"
#include "os/netlink.h"
#include "os/netlink_batch.h"

namespace sallyport {
namespace {

namespace abi = netlink_abi;
using namespace nft;  // NOLINT(google-build-using-namespace): the words of one netlink batch

constexpr std::uint16_t kRefusalGroup = 1;
constexpr std::uint32_t kShownBytes = 64;  // an IPv6 header, and the ports
constexpr std::int32_t kBeforeNat = -150;
constexpr std::uint16_t kDns = 53;

constexpr std::string_view kJudge = "judge";
constexpr std::string_view kNamed = "named";  // to addresses that stand for names
constexpr std::string_view kOwn = "own";      // to the jail's loopback

void refuse_tcp(NetlinkMessage& m) {
  show(m, kRefusalGroup, kShownBytes);
  reject(m, abi::kRejectByReset);
}

void refuse_udp(NetlinkMessage& m) {
  show(m, kRefusalGroup, kShownBytes);
  reject(m, abi::kRejectByIcmp, abi::kIcmpPortUnreachable);
}

// Most packets belong to a connection whose first packet was judged.
void accept_running_connections(Batch& batch) {
  static constexpr std::uint32_t kFlagsAt = 13;
  static constexpr std::uint8_t kSynAckRstFin = 0x17;
  static constexpr std::uint8_t kSyn = 0x02;
  batch.add_rule(kJudge, 0, [](NetlinkMessage& m) {
    only_protocol(m, abi::kProtocolTcp);
    load_payload(m, abi::kTransportHeader, kFlagsAt, sizeof kSynAckRstFin);
    keep_bits(m, kSynAckRstFin);
    compare(m, abi::kCompareUnequal, kSyn);
    accept(m);
  });
}

// Multicast, broadcast and reserved addresses: nobody would answer, so the sender gets an error.
void refuse_groups(Batch& batch) {
  static constexpr std::uint8_t kFirstV4Group = 224;
  batch.add_rule(kJudge, 0, [](NetlinkMessage& m) {
    load_destination<abi::kNetfilterV4>(m, sizeof kFirstV4Group);
    compare(m, abi::kCompareAtLeast, kFirstV4Group);
    show(m, kRefusalGroup, kShownBytes);
    drop(m);
  });
  batch.add_rule(kJudge, 0, [](NetlinkMessage& m) {
    only_protocol(m, abi::kProtocolUdp);
    only_to(m, PrefixV6<1>{{0xff}});
    show(m, kRefusalGroup, kShownBytes);
    drop(m);
  });
}

void accept_dns(Batch& batch) {
  for (const std::uint8_t protocol : {abi::kProtocolTcp, abi::kProtocolUdp}) {
    batch.add_rule(kJudge, 0, [&](NetlinkMessage& m) {
      only_to_port(m, protocol, kDns);
      accept(m);
    });
  }
  // DNS answers. We have the port before the tool starts.
  batch.add_rule(kJudge, 0, [](NetlinkMessage& m) {
    only_from_port(m, abi::kProtocolUdp, kDns);
    accept(m);
  });
}

template <class Where>
void send_to_chain(Batch& batch, const Where& where, std::string_view chain) {
  batch.add_rule(kJudge, 0, [&](NetlinkMessage& m) {
    where(m);
    go_to(m, chain);
  });
}

void sort_by_address(Batch& batch) {
  send_to_chain(batch, [](NetlinkMessage& m) { only_to(m, kV4LoopbackNet); }, kOwn);
  send_to_chain(batch, [](NetlinkMessage& m) { only_to(m, kV6Loopback); }, kOwn);
  // 198.18.0.0/15 and 2001:2::/48, see address_book.h.
  send_to_chain(
      batch,
      [](NetlinkMessage& m) {
        load_destination<abi::kNetfilterV4>(m, 2);
        keep_bits(m, std::array<std::uint8_t, 2>{0xff, 0xfe});
        must_equal(m, std::array<std::uint8_t, 2>{198, 18});
      },
      kNamed);
  send_to_chain(batch, [](NetlinkMessage& m) { only_to(m, PrefixV6<6>{{0x20, 1, 0, 2, 0, 0}}); }, kNamed);
}

void refuse_the_rest(Batch& batch, std::string_view chain, unsigned flags) {
  batch.add_rule(chain, 0, [](NetlinkMessage& m) {
    only_protocol(m, abi::kProtocolTcp);
    refuse_tcp(m);
  });
  batch.add_rule(chain, flags, [](NetlinkMessage& m) {
    only_protocol(m, abi::kProtocolUdp);
    refuse_udp(m);
  });
}

// The first attribute of this type in a list of them; empty: none.
std::span<const std::uint8_t> find_attribute(std::span<const std::uint8_t> list, std::uint16_t wanted) {
  while (list.size() >= sizeof(abi::AttributeHeader)) {
    abi::AttributeHeader header;
    std::memcpy(&header, list.data(), sizeof header);
    if (header.length < sizeof header || header.length > list.size()) return {};
    if ((header.type & ~abi::kNested) == wanted) return list.first(header.length).subspan(sizeof header);
    const std::size_t padded = (header.length + abi::kAlignment - 1) & ~std::size_t{abi::kAlignment - 1};
    list = list.subspan(std::min(padded, list.size()));
  }
  return {};
}

// Network header first.
std::optional<RefusedPacket> parse_packet(std::span<const std::uint8_t> packet) {
  if (packet.empty()) return std::nullopt;
  const bool v6 = packet[0] >> 4U == 6;
  const std::size_t header = v6 ? 40 : static_cast<std::size_t>(packet[0] & 0x0fU) * 4;
  const std::size_t address_at = v6 ? 24 : 16;
  if ((!v6 && packet[0] >> 4U != 4) || header < address_at + (v6 ? 16 : 4) || packet.size() < header + 4) {
    return std::nullopt;
  }
  RefusedPacket refused{.address = {.v6 = v6}, .udp = packet[v6 ? 6 : 9] != abi::kProtocolTcp};
  std::copy_n(packet.begin() + static_cast<std::ptrdiff_t>(address_at), v6 ? 16 : 4, refused.address.bytes.begin());
  refused.port = static_cast<std::uint16_t>(packet[header + 2] << 8U | packet[header + 3]);
  return refused;
}

}  // namespace

NetlinkDatagram show_refusals() {
  const abi::NetfilterMessage group{.resource = big_endian(kRefusalGroup)};
  constexpr auto kType = static_cast<std::uint16_t>(abi::kSubsystemLog << 8 | abi::kLogConfig);
  NetlinkMessage message(kType, abi::kRequest | abi::kAck, 1, group);
  message.value(abi::kLogCommand, abi::kLogBind);
  return {.protocol = abi::kNetfilter, .bytes = std::move(message).finish()};
}

NetlinkDatagram refuse_at_once(std::span<const std::uint16_t> listening) {
  Batch batch;
  batch.add_table();
  batch.add_hooked_chain(kJudge, "filter", kBeforeNat);
  batch.add_chain(kNamed);
  batch.add_chain(kOwn);
  accept_running_connections(batch);
  refuse_groups(batch);
  accept_dns(batch);
  sort_by_address(batch);
  for (const std::uint16_t port : listening) {
    batch.add_rule(kOwn, 0, [&](NetlinkMessage& m) {
      only_to_port(m, abi::kProtocolTcp, port);
      refuse_tcp(m);
    });
    batch.add_rule(kNamed, 0, [&](NetlinkMessage& m) {
      only_to_port(m, abi::kProtocolTcp, port);
      accept(m);
    });
  }
  refuse_the_rest(batch, kNamed, 0);
  refuse_the_rest(batch, kJudge, abi::kAck);
  return {.protocol = abi::kNetfilter, .bytes = std::move(batch).finish()};
}

std::vector<RefusedPacket> parse_refusals(std::span<const std::uint8_t> datagram) {
  constexpr std::uint16_t kPacket = abi::kSubsystemLog << 8;
  constexpr std::size_t kFixed = sizeof(abi::MessageHeader) + sizeof(abi::NetfilterMessage);
  std::vector<RefusedPacket> refusals;
  while (datagram.size() >= kFixed) {
    abi::MessageHeader header;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.length < kFixed || header.length > datagram.size()) break;
    const std::span<const std::uint8_t> attributes = datagram.first(header.length).subspan(kFixed);
    const std::optional<RefusedPacket> refused =
        header.type == kPacket ? parse_packet(find_attribute(attributes, abi::kLogPayload)) : std::nullopt;
    if (refused) refusals.push_back(*refused);
    const std::size_t padded = (header.length + abi::kAlignment - 1) & ~std::size_t{abi::kAlignment - 1};
    datagram = datagram.subspan(std::min(padded, datagram.size()));
  }
  return refusals;
}

}  // namespace sallyport
