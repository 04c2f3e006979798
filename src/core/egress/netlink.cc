#include "core/egress/netlink.h"

#include <array>

#include "core/egress/netlink_abi.h"
#include "core/egress/netlink_message.h"

namespace sallyport {
namespace {

namespace abi = netlink_abi;

constexpr int kLoopbackIndex = 1;
constexpr std::string_view kTableText = "sallyport";
constexpr std::string_view kChainText = "output";
constexpr std::int32_t kDestinationNat = -100;  // NF_IP_PRI_NAT_DST, also for IPv6

// nft's own headers name the first 32-bit register 8; 1 is the first of the older, 128-bit ones, known to all kernels.
constexpr std::uint32_t kScratchRegister = abi::kFirstRegister;

std::uint32_t be32(std::uint32_t value) { return big_endian(value); }

// Adds one expression to a rule's list.
template <class Fill>
void expression(NetlinkMessage& rule, std::string_view name, const Fill& fill) {
  rule.nest(abi::kListElement, [&](NetlinkMessage& element) {
    element.text(abi::kExpressionName, name).nest(abi::kExpressionData, fill);
  });
}

void load_meta(NetlinkMessage& rule, std::uint32_t key) {
  expression(rule, "meta", [&](NetlinkMessage& m) {
    m.value(abi::kMetaRegister, be32(kScratchRegister)).value(abi::kMetaKey, be32(key));
  });
}

void load_payload(NetlinkMessage& rule, std::uint32_t base, std::uint32_t offset, std::uint32_t size) {
  expression(rule, "payload", [&](NetlinkMessage& m) {
    m.value(abi::kPayloadRegister, be32(kScratchRegister)).value(abi::kPayloadBase, be32(base));
    m.value(abi::kPayloadOffset, be32(offset)).value(abi::kPayloadLength, be32(size));
  });
}

template <class T>
void must_equal(NetlinkMessage& rule, const T& data) {
  expression(rule, "cmp", [&](NetlinkMessage& m) {
    m.value(abi::kCompareRegister, be32(kScratchRegister)).value(abi::kCompareOperation, be32(abi::kCompareEqual));
    m.nest(abi::kCompareData, [&](NetlinkMessage& value) { value.value(abi::kDataValue, data); });
  });
}

void accept(NetlinkMessage& rule) {
  expression(rule, "immediate", [](NetlinkMessage& m) {
    m.value(abi::kImmediateRegister, be32(abi::kVerdictRegister));
    m.nest(abi::kImmediateData, [](NetlinkMessage& data) {
      data.nest(abi::kDataVerdict,
                [](NetlinkMessage& code) { code.value(abi::kVerdictCode, be32(abi::kAcceptVerdict)); });
    });
  });
}

void redirect_to(NetlinkMessage& rule, std::uint16_t port) {
  expression(rule, "immediate", [&](NetlinkMessage& m) {
    m.value(abi::kImmediateRegister, be32(kScratchRegister));
    m.nest(abi::kImmediateData, [&](NetlinkMessage& data) { data.value(abi::kDataValue, big_endian(port)); });
  });
  expression(rule, "redir", [](NetlinkMessage& m) { m.value(abi::kRedirectPort, be32(kScratchRegister)); });
}

void only_family(NetlinkMessage& rule, std::uint8_t family) {
  load_meta(rule, abi::kMetaFamily);
  must_equal(rule, family);
}

void only_tcp(NetlinkMessage& rule) {
  load_meta(rule, abi::kMetaTransport);
  must_equal(rule, abi::kProtocolTcp);
}

// Messages of one transaction, numbered in order.
class Batch {
 public:
  Batch() { add_border(abi::kBatchBegin); }

  template <class Fill>
  void add(std::uint16_t type, unsigned flags, const Fill& fill) {
    const auto full_type = static_cast<std::uint16_t>(abi::kSubsystemTables << 8 | type);
    NetlinkMessage message(full_type, abi::kRequest | abi::kCreate | flags, sequence_++,
                           abi::NetfilterMessage{.family = abi::kFamilyInet});
    fill(message);
    bytes_ += std::move(message).finish();
  }
  template <class Fill>
  void add_rule(unsigned flags, const Fill& fill) {
    add(abi::kNewRule, abi::kAppend | flags, [&](NetlinkMessage& m) {
      m.text(abi::kRuleTable, kTableText).text(abi::kRuleChain, kChainText).nest(abi::kRuleExpressions, fill);
    });
  }
  [[nodiscard]] std::string finish() && {
    add_border(abi::kBatchEnd);
    return std::move(bytes_);
  }

 private:
  void add_border(std::uint16_t type) {
    const abi::NetfilterMessage subsystem{.resource = big_endian(abi::kSubsystemTables)};
    bytes_ += NetlinkMessage(type, abi::kRequest, sequence_++, subsystem).finish();
  }

  std::string bytes_{};
  std::uint32_t sequence_ = 1;
};

void add_chain(Batch& batch) {
  batch.add(abi::kNewTable, 0, [](NetlinkMessage& m) { m.text(abi::kTableName, kTableText); });
  batch.add(abi::kNewChain, 0, [](NetlinkMessage& m) {
    m.text(abi::kChainTable, kTableText).text(abi::kChainName, kChainText);
    m.nest(abi::kChainHook, [](NetlinkMessage& hook) {
      hook.value(abi::kHookNumber, be32(abi::kHookLocalOut));
      hook.value(abi::kHookPriority, be32(static_cast<std::uint32_t>(kDestinationNat)));
    });
    m.value(abi::kChainPolicy, be32(abi::kAcceptVerdict)).text(abi::kChainType, "nat");
  });
}

// What the tool's own servers on loopback listen on stays theirs.
void add_loopback_rules(Batch& batch) {
  static constexpr std::array<std::uint8_t, 16> kV6Loopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  static constexpr std::uint32_t kV4Destination = 16;
  static constexpr std::uint32_t kV6Destination = 24;
  static constexpr std::uint8_t kV4LoopbackNet = 127;
  batch.add_rule(0, [](NetlinkMessage& m) {
    only_family(m, abi::kNetfilterV4);
    load_payload(m, abi::kNetworkHeader, kV4Destination, sizeof kV4LoopbackNet);
    must_equal(m, kV4LoopbackNet);
    accept(m);
  });
  batch.add_rule(0, [](NetlinkMessage& m) {
    only_family(m, abi::kNetfilterV6);
    load_payload(m, abi::kNetworkHeader, kV6Destination, sizeof kV6Loopback);
    must_equal(m, kV6Loopback);
    accept(m);
  });
}

void add_listening_rule(Batch& batch, std::uint16_t port) {
  static constexpr std::uint32_t kTcpDestination = 2;
  batch.add_rule(0, [&](NetlinkMessage& m) {
    only_tcp(m);
    load_payload(m, abi::kTransportHeader, kTcpDestination, sizeof port);
    must_equal(m, big_endian(port));
    accept(m);
  });
}

}  // namespace

std::string bring_up_loopback() {
  const abi::LinkMessage link{.index = kLoopbackIndex, .flags = abi::kInterfaceUp, .change = abi::kInterfaceUp};
  return NetlinkMessage(abi::kNewLink, abi::kRequest | abi::kAck, 1, link).finish();
}

std::string local_route(bool v6) {
  const abi::RouteMessage route{.family = v6 ? abi::kFamilyV6 : abi::kFamilyV4,
                                .table = abi::kTableLocal,
                                .protocol = abi::kProtocolStatic,
                                .scope = abi::kScopeHost,
                                .type = abi::kTypeLocal};
  NetlinkMessage message(abi::kNewRoute, abi::kRequest | abi::kAck | abi::kCreate, 1, route);
  message.value(abi::kRouteTable, std::uint32_t{abi::kTableLocal})
      .value(abi::kRouteOutInterface, std::uint32_t{kLoopbackIndex});
  return std::move(message).finish();
}

std::string redirect_other_ports(std::span<const std::uint16_t> listening, std::uint16_t catch_all) {
  Batch batch;
  add_chain(batch);
  add_loopback_rules(batch);
  for (const std::uint16_t port : listening) add_listening_rule(batch, port);
  batch.add_rule(abi::kAck, [&](NetlinkMessage& m) {
    only_tcp(m);
    redirect_to(m, catch_all);
  });
  return std::move(batch).finish();
}

}  // namespace sallyport
