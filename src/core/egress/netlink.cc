#include "core/egress/netlink.h"

// Numbers and structures only; no function of the system is called here.
#include <linux/if.h>
#include <linux/in.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <array>

#include "core/egress/netlink_message.h"

namespace sallyport {
namespace {

constexpr unsigned kAck = NLM_F_REQUEST | NLM_F_ACK;
constexpr int kLoopback = 1;
constexpr std::string_view kTable = "sallyport";
constexpr std::string_view kChain = "output";
constexpr std::int32_t kDestinationNat = -100;  // NF_IP_PRI_NAT_DST, also for IPv6

// nft's own headers name the first 32-bit register 8; 1 is the first of the older, 128-bit ones, known to all kernels.
constexpr std::uint32_t kRegister = NFT_REG_1;

std::uint32_t be32(std::uint32_t value) { return big_endian(value); }

// Adds one expression to a rule's list.
template <class Fill>
void expression(NetlinkMessage& rule, std::string_view name, const Fill& fill) {
  rule.nest(NFTA_LIST_ELEM,
            [&](NetlinkMessage& element) { element.text(NFTA_EXPR_NAME, name).nest(NFTA_EXPR_DATA, fill); });
}

void load_meta(NetlinkMessage& rule, std::uint32_t key) {
  expression(rule, "meta",
             [&](NetlinkMessage& m) { m.value(NFTA_META_DREG, be32(kRegister)).value(NFTA_META_KEY, be32(key)); });
}

void load_payload(NetlinkMessage& rule, std::uint32_t base, std::uint32_t offset, std::uint32_t size) {
  expression(rule, "payload", [&](NetlinkMessage& m) {
    m.value(NFTA_PAYLOAD_DREG, be32(kRegister)).value(NFTA_PAYLOAD_BASE, be32(base));
    m.value(NFTA_PAYLOAD_OFFSET, be32(offset)).value(NFTA_PAYLOAD_LEN, be32(size));
  });
}

template <class T>
void must_equal(NetlinkMessage& rule, const T& data) {
  expression(rule, "cmp", [&](NetlinkMessage& m) {
    m.value(NFTA_CMP_SREG, be32(kRegister)).value(NFTA_CMP_OP, be32(NFT_CMP_EQ));
    m.nest(NFTA_CMP_DATA, [&](NetlinkMessage& value) { value.value(NFTA_DATA_VALUE, data); });
  });
}

void accept(NetlinkMessage& rule) {
  expression(rule, "immediate", [](NetlinkMessage& m) {
    m.value(NFTA_IMMEDIATE_DREG, be32(NFT_REG_VERDICT));
    m.nest(NFTA_IMMEDIATE_DATA, [](NetlinkMessage& data) {
      data.nest(NFTA_DATA_VERDICT, [](NetlinkMessage& code) { code.value(NFTA_VERDICT_CODE, be32(NF_ACCEPT)); });
    });
  });
}

void redirect_to(NetlinkMessage& rule, std::uint16_t port) {
  expression(rule, "immediate", [&](NetlinkMessage& m) {
    m.value(NFTA_IMMEDIATE_DREG, be32(kRegister));
    m.nest(NFTA_IMMEDIATE_DATA, [&](NetlinkMessage& data) { data.value(NFTA_DATA_VALUE, big_endian(port)); });
  });
  expression(rule, "redir", [](NetlinkMessage& m) { m.value(NFTA_REDIR_REG_PROTO_MIN, be32(kRegister)); });
}

void only_family(NetlinkMessage& rule, std::uint8_t family) {
  load_meta(rule, NFT_META_NFPROTO);
  must_equal(rule, family);
}

void only_tcp(NetlinkMessage& rule) {
  load_meta(rule, NFT_META_L4PROTO);
  must_equal(rule, static_cast<std::uint8_t>(IPPROTO_TCP));
}

// Messages of one transaction, numbered in order.
class Batch {
 public:
  Batch() { add_border(NFNL_MSG_BATCH_BEGIN); }

  template <class Fill>
  void add(std::uint16_t type, unsigned flags, const Fill& fill) {
    const auto full_type = static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type);
    NetlinkMessage message(full_type, NLM_F_REQUEST | NLM_F_CREATE | flags, sequence_++,
                           nfgenmsg{.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0, .res_id = 0});
    fill(message);
    bytes_ += std::move(message).finish();
  }
  template <class Fill>
  void add_rule(unsigned flags, const Fill& fill) {
    add(NFT_MSG_NEWRULE, NLM_F_APPEND | flags, [&](NetlinkMessage& m) {
      m.text(NFTA_RULE_TABLE, kTable).text(NFTA_RULE_CHAIN, kChain).nest(NFTA_RULE_EXPRESSIONS, fill);
    });
  }
  [[nodiscard]] std::string finish() && {
    add_border(NFNL_MSG_BATCH_END);
    return std::move(bytes_);
  }

 private:
  void add_border(std::uint16_t type) {
    const nfgenmsg subsystem{.nfgen_family = AF_UNSPEC,
                             .version = NFNETLINK_V0,
                             .res_id = big_endian(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES))};
    bytes_ += NetlinkMessage(type, NLM_F_REQUEST, sequence_++, subsystem).finish();
  }

  std::string bytes_{};
  std::uint32_t sequence_ = 1;
};

void add_chain(Batch& batch) {
  batch.add(NFT_MSG_NEWTABLE, 0, [](NetlinkMessage& m) { m.text(NFTA_TABLE_NAME, kTable); });
  batch.add(NFT_MSG_NEWCHAIN, 0, [](NetlinkMessage& m) {
    m.text(NFTA_CHAIN_TABLE, kTable).text(NFTA_CHAIN_NAME, kChain);
    m.nest(NFTA_CHAIN_HOOK, [](NetlinkMessage& hook) {
      hook.value(NFTA_HOOK_HOOKNUM, be32(NF_INET_LOCAL_OUT));
      hook.value(NFTA_HOOK_PRIORITY, be32(static_cast<std::uint32_t>(kDestinationNat)));
    });
    m.value(NFTA_CHAIN_POLICY, be32(NF_ACCEPT)).text(NFTA_CHAIN_TYPE, "nat");
  });
}

// What the tool's own servers on loopback listen on stays theirs.
void add_loopback_rules(Batch& batch) {
  static constexpr std::array<std::uint8_t, 16> kV6Loopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  static constexpr std::uint32_t kV4Destination = 16;
  static constexpr std::uint32_t kV6Destination = 24;
  static constexpr std::uint8_t kV4LoopbackNet = 127;
  batch.add_rule(0, [](NetlinkMessage& m) {
    only_family(m, NFPROTO_IPV4);
    load_payload(m, NFT_PAYLOAD_NETWORK_HEADER, kV4Destination, sizeof kV4LoopbackNet);
    must_equal(m, kV4LoopbackNet);
    accept(m);
  });
  batch.add_rule(0, [](NetlinkMessage& m) {
    only_family(m, NFPROTO_IPV6);
    load_payload(m, NFT_PAYLOAD_NETWORK_HEADER, kV6Destination, sizeof kV6Loopback);
    must_equal(m, kV6Loopback);
    accept(m);
  });
}

void add_listening_rule(Batch& batch, std::uint16_t port) {
  static constexpr std::uint32_t kTcpDestination = 2;
  batch.add_rule(0, [&](NetlinkMessage& m) {
    only_tcp(m);
    load_payload(m, NFT_PAYLOAD_TRANSPORT_HEADER, kTcpDestination, sizeof port);
    must_equal(m, big_endian(port));
    accept(m);
  });
}

}  // namespace

std::string bring_up_loopback() {
  const ifinfomsg link{.ifi_family = AF_UNSPEC, .ifi_index = kLoopback, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
  return NetlinkMessage(RTM_NEWLINK, kAck, 1, link).finish();
}

std::string local_route(bool v6) {
  const rtmsg route{.rtm_family = static_cast<std::uint8_t>(v6 ? AF_INET6 : AF_INET),
                    .rtm_table = RT_TABLE_LOCAL,
                    .rtm_protocol = RTPROT_STATIC,
                    .rtm_scope = RT_SCOPE_HOST,
                    .rtm_type = RTN_LOCAL};
  NetlinkMessage message(RTM_NEWROUTE, kAck | NLM_F_CREATE, 1, route);
  message.value(RTA_TABLE, std::uint32_t{RT_TABLE_LOCAL}).value(RTA_OIF, std::uint32_t{kLoopback});
  return std::move(message).finish();
}

std::string redirect_other_ports(std::span<const std::uint16_t> listening, std::uint16_t catch_all) {
  Batch batch;
  add_chain(batch);
  add_loopback_rules(batch);
  for (const std::uint16_t port : listening) add_listening_rule(batch, port);
  batch.add_rule(NLM_F_ACK, [&](NetlinkMessage& m) {
    only_tcp(m);
    redirect_to(m, catch_all);
  });
  return std::move(batch).finish();
}

}  // namespace sallyport
