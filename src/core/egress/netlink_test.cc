// The bytes against the kernel's own headers. That they do what they say is shown in a network namespace by the tests
// of the jail's egress.
#include "core/egress/netlink.h"

#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/in.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <cstring>
#include <vector>

#include "core/egress/netlink_abi.h"

namespace sallyport {
namespace {

namespace abi = netlink_abi;

TEST(NetlinkAbi, SaysWhatTheKernelsHeadersSay) {
  static_assert(sizeof(abi::MessageHeader) == sizeof(nlmsghdr) && sizeof(abi::AttributeHeader) == sizeof(nlattr));
  static_assert(sizeof(abi::LinkMessage) == sizeof(ifinfomsg) && sizeof(abi::RouteMessage) == sizeof(rtmsg));
  static_assert(sizeof(abi::NetfilterMessage) == sizeof(nfgenmsg));
  static_assert(offsetof(abi::LinkMessage, index) == offsetof(ifinfomsg, ifi_index));
  static_assert(offsetof(abi::RouteMessage, table) == offsetof(rtmsg, rtm_table));
  static_assert(offsetof(abi::RouteMessage, type) == offsetof(rtmsg, rtm_type));

  EXPECT_EQ(abi::kRequest, NLM_F_REQUEST + 0U);
  EXPECT_EQ(abi::kAck, NLM_F_ACK + 0U);
  EXPECT_EQ(abi::kCreate, NLM_F_CREATE + 0U);
  EXPECT_EQ(abi::kAppend, NLM_F_APPEND + 0U);
  EXPECT_EQ(abi::kNested, NLA_F_NESTED + 0U);
  EXPECT_EQ(abi::kAlignment, NLA_ALIGNTO + 0U);

  EXPECT_EQ(abi::kNewLink, RTM_NEWLINK);
  EXPECT_EQ(abi::kNewRoute, RTM_NEWROUTE);
  EXPECT_EQ(abi::kFamilyV4, AF_INET);
  EXPECT_EQ(abi::kFamilyV6, AF_INET6);
  EXPECT_EQ(abi::kInterfaceUp, IFF_UP + 0U);
  EXPECT_EQ(abi::kTableLocal, RT_TABLE_LOCAL);
  EXPECT_EQ(abi::kProtocolStatic, RTPROT_STATIC);
  EXPECT_EQ(abi::kScopeHost, RT_SCOPE_HOST);
  EXPECT_EQ(abi::kTypeLocal, RTN_LOCAL);
  EXPECT_EQ(abi::kTypeProhibit, RTN_PROHIBIT);
  EXPECT_EQ(abi::kRouteDestination, RTA_DST + 0U);
  EXPECT_EQ(abi::kRouteOutInterface, RTA_OIF + 0U);
  EXPECT_EQ(abi::kRouteTable, RTA_TABLE + 0U);

  EXPECT_EQ(abi::kBatchBegin, NFNL_MSG_BATCH_BEGIN);
  EXPECT_EQ(abi::kBatchEnd, NFNL_MSG_BATCH_END);
  EXPECT_EQ(abi::kSubsystemTables, NFNL_SUBSYS_NFTABLES);
  EXPECT_EQ(abi::kFamilyInet, NFPROTO_INET);
  EXPECT_EQ(abi::kNetfilterV4, NFPROTO_IPV4);
  EXPECT_EQ(abi::kNetfilterV6, NFPROTO_IPV6);
  EXPECT_EQ(abi::kAcceptVerdict, NF_ACCEPT + 0U);
  EXPECT_EQ(abi::kHookLocalOut, NF_INET_LOCAL_OUT + 0U);
  EXPECT_EQ(abi::kProtocolTcp, IPPROTO_TCP);
  EXPECT_EQ(abi::kProtocolUdp, IPPROTO_UDP);
  EXPECT_EQ(abi::kDropVerdict, NF_DROP + 0U);
  EXPECT_EQ(abi::kSubsystemLog, NFNL_SUBSYS_ULOG);
  EXPECT_EQ(abi::kLogConfig, NFULNL_MSG_CONFIG);
  EXPECT_EQ(abi::kLogCommand, NFULA_CFG_CMD + 0U);
  EXPECT_EQ(abi::kLogBind, NFULNL_CFG_CMD_BIND);
  EXPECT_EQ(abi::kLogPayload, NFULA_PAYLOAD);
}

TEST(NetlinkAbi, SaysWhatTheHeadersOfNftablesSay) {
  EXPECT_EQ(abi::kNewTable, NFT_MSG_NEWTABLE);
  EXPECT_EQ(abi::kNewChain, NFT_MSG_NEWCHAIN);
  EXPECT_EQ(abi::kNewRule, NFT_MSG_NEWRULE);
  EXPECT_EQ(abi::kTableName, NFTA_TABLE_NAME + 0U);
  EXPECT_EQ(abi::kChainTable, NFTA_CHAIN_TABLE + 0U);
  EXPECT_EQ(abi::kChainName, NFTA_CHAIN_NAME + 0U);
  EXPECT_EQ(abi::kChainHook, NFTA_CHAIN_HOOK + 0U);
  EXPECT_EQ(abi::kChainPolicy, NFTA_CHAIN_POLICY + 0U);
  EXPECT_EQ(abi::kChainType, NFTA_CHAIN_TYPE + 0U);
  EXPECT_EQ(abi::kHookNumber, NFTA_HOOK_HOOKNUM + 0U);
  EXPECT_EQ(abi::kHookPriority, NFTA_HOOK_PRIORITY + 0U);
  EXPECT_EQ(abi::kRuleTable, NFTA_RULE_TABLE + 0U);
  EXPECT_EQ(abi::kRuleChain, NFTA_RULE_CHAIN + 0U);
  EXPECT_EQ(abi::kRuleExpressions, NFTA_RULE_EXPRESSIONS + 0U);
  EXPECT_EQ(abi::kListElement, NFTA_LIST_ELEM + 0U);
  EXPECT_EQ(abi::kExpressionName, NFTA_EXPR_NAME + 0U);
  EXPECT_EQ(abi::kExpressionData, NFTA_EXPR_DATA + 0U);
  EXPECT_EQ(abi::kDataValue, NFTA_DATA_VALUE + 0U);
  EXPECT_EQ(abi::kDataVerdict, NFTA_DATA_VERDICT + 0U);
  EXPECT_EQ(abi::kVerdictCode, NFTA_VERDICT_CODE + 0U);
  EXPECT_EQ(abi::kVerdictChain, NFTA_VERDICT_CHAIN + 0U);
  EXPECT_EQ(abi::kGotoVerdict, static_cast<std::uint32_t>(NFT_GOTO));
  EXPECT_EQ(abi::kCompareUnequal, NFT_CMP_NEQ + 0U);
  EXPECT_EQ(abi::kCompareAtLeast, NFT_CMP_GTE + 0U);
  EXPECT_EQ(abi::kBitwiseSource, NFTA_BITWISE_SREG + 0U);
  EXPECT_EQ(abi::kBitwiseTarget, NFTA_BITWISE_DREG + 0U);
  EXPECT_EQ(abi::kBitwiseLength, NFTA_BITWISE_LEN + 0U);
  EXPECT_EQ(abi::kBitwiseMask, NFTA_BITWISE_MASK + 0U);
  EXPECT_EQ(abi::kBitwiseXor, NFTA_BITWISE_XOR + 0U);
  EXPECT_EQ(abi::kLogGroup, NFTA_LOG_GROUP + 0U);
  EXPECT_EQ(abi::kLogSnapLength, NFTA_LOG_SNAPLEN + 0U);
  EXPECT_EQ(abi::kLogThreshold, NFTA_LOG_QTHRESHOLD + 0U);
  EXPECT_EQ(abi::kRejectType, NFTA_REJECT_TYPE + 0U);
  EXPECT_EQ(abi::kRejectCode, NFTA_REJECT_ICMP_CODE + 0U);
  EXPECT_EQ(abi::kRejectByReset, NFT_REJECT_TCP_RST + 0U);
  EXPECT_EQ(abi::kRejectByIcmp, NFT_REJECT_ICMPX_UNREACH + 0U);
  EXPECT_EQ(abi::kIcmpPortUnreachable, NFT_REJECT_ICMPX_PORT_UNREACH + 0U);
  EXPECT_EQ(abi::kMetaRegister, NFTA_META_DREG + 0U);
  EXPECT_EQ(abi::kMetaKey, NFTA_META_KEY + 0U);
  EXPECT_EQ(abi::kMetaFamily, NFT_META_NFPROTO + 0U);
  EXPECT_EQ(abi::kMetaTransport, NFT_META_L4PROTO + 0U);
  EXPECT_EQ(abi::kPayloadRegister, NFTA_PAYLOAD_DREG + 0U);
  EXPECT_EQ(abi::kPayloadBase, NFTA_PAYLOAD_BASE + 0U);
  EXPECT_EQ(abi::kPayloadOffset, NFTA_PAYLOAD_OFFSET + 0U);
  EXPECT_EQ(abi::kPayloadLength, NFTA_PAYLOAD_LEN + 0U);
  EXPECT_EQ(abi::kNetworkHeader, NFT_PAYLOAD_NETWORK_HEADER + 0U);
  EXPECT_EQ(abi::kTransportHeader, NFT_PAYLOAD_TRANSPORT_HEADER + 0U);
  EXPECT_EQ(abi::kCompareRegister, NFTA_CMP_SREG + 0U);
  EXPECT_EQ(abi::kCompareOperation, NFTA_CMP_OP + 0U);
  EXPECT_EQ(abi::kCompareData, NFTA_CMP_DATA + 0U);
  EXPECT_EQ(abi::kCompareEqual, NFT_CMP_EQ + 0U);
  EXPECT_EQ(abi::kImmediateRegister, NFTA_IMMEDIATE_DREG + 0U);
  EXPECT_EQ(abi::kImmediateData, NFTA_IMMEDIATE_DATA + 0U);
  EXPECT_EQ(abi::kRedirectPort, NFTA_REDIR_REG_PROTO_MIN + 0U);
  EXPECT_EQ(abi::kVerdictRegister, NFT_REG_VERDICT + 0U);
  EXPECT_EQ(abi::kFirstRegister, NFT_REG_1 + 0U);
}

// The headers of a datagram's messages; the kernel drops what is after a length that does not fit.
std::vector<abi::MessageHeader> headers_of(const std::string& datagram) {
  std::vector<abi::MessageHeader> headers;
  std::size_t at = 0;
  while (at + sizeof(abi::MessageHeader) <= datagram.size()) {
    abi::MessageHeader header;
    std::memcpy(&header, datagram.data() + at, sizeof header);
    headers.push_back(header);
    EXPECT_EQ(header.length % abi::kAlignment, 0U);
    if (header.length < sizeof header) break;
    at += header.length;
  }
  EXPECT_EQ(at, datagram.size());
  return headers;
}

TEST(Netlink, EachDatagramAsksForOneAnswer) {
  const std::vector<std::uint16_t> ports = {80, 443};
  for (const std::string& datagram :
       {bring_up_loopback(), local_route(false), local_route(true), prohibit_groups(false), prohibit_groups(true),
        show_refusals(), refuse_at_once(ports), redirect_other_ports(ports, 40000)}) {
    int answers = 0;
    for (const abi::MessageHeader& header : headers_of(datagram)) {
      EXPECT_NE(header.flags & abi::kRequest, 0U);
      answers += (header.flags & abi::kAck) != 0 ? 1 : 0;
    }
    EXPECT_EQ(answers, 1);
  }
}

TEST(Netlink, TheRedirectionIsOneTransactionWithARuleForEachPort) {
  const std::vector<std::uint16_t> ports = {80, 443, 8080};
  const std::vector<abi::MessageHeader> headers = headers_of(redirect_other_ports(ports, 40000));
  ASSERT_EQ(headers.size(), 2U + 2 + 2 + ports.size() + 1);
  EXPECT_EQ(headers.front().type, abi::kBatchBegin);
  EXPECT_EQ(headers.back().type, abi::kBatchEnd);
  for (std::size_t i = 1; i < headers.size(); ++i) EXPECT_EQ(headers[i].sequence, headers[i - 1].sequence + 1);
  EXPECT_NE(headers[headers.size() - 2].flags & abi::kAck, 0U) << "the last rule answers for all";
}

// A refusal as the kernel shows it: a header, a netfilter header, a time (passed over), the packet.
std::string shown_packet(const std::string& packet) {
  const std::string time("\x14\x00\x03\x00................", 20);
  std::string attribute;
  attribute += static_cast<char>(4 + packet.size());
  attribute.append("\x00\x09\x00", 3).append(packet);
  attribute.resize((attribute.size() + 3) & ~std::size_t{3});
  const abi::MessageHeader header{
      .length = static_cast<std::uint32_t>(sizeof(abi::MessageHeader) + 4 + time.size() + attribute.size()),
      .type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + std::string(4, 0) + time + attribute;
}

std::vector<RefusedPacket> refusals_in(const std::string& datagram) {
  return parse_refusals({reinterpret_cast<const std::uint8_t*>(datagram.data()), datagram.size()});
}

TEST(Netlink, ShownRefusalsSayWhereToAndBySyn) {
  std::string v4("\x45\0\0\x3c\0\0\0\0\x40\x06\0\0\x7f\0\0\1\x5d\xb8\xd8\x22\x9c\x40\x01\xbb", 24);
  std::string v6("\x60\0\0\0\0\x08\x11\x40", 8);
  v6.append(16, 0).append("\xff\x02", 2).append(13, 0).append("\x01\x9c\x40\x14\xe9", 5);
  const std::vector<RefusedPacket> refusals = refusals_in(shown_packet(v4) + shown_packet(v6));
  ASSERT_EQ(refusals.size(), 2U);
  EXPECT_EQ(ip_address_text(refusals[0].address), "93.184.216.34");
  EXPECT_EQ(refusals[0].port, 443);
  EXPECT_FALSE(refusals[0].udp);
  EXPECT_EQ(ip_address_text(refusals[1].address), "ff02::1");
  EXPECT_EQ(refusals[1].port, 5353);
  EXPECT_TRUE(refusals[1].udp);
}

TEST(Netlink, WhatIsNoRefusalOrCutShortIsPassedOver) {
  const std::string packet("\x45\0\0\x3c\0\0\0\0\x40\x06\0\0\x7f\0\0\1\x5d\xb8\xd8\x22\x9c\x40\x01\xbb", 24);
  const std::string whole = shown_packet(packet);
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_TRUE(refusals_in(whole.substr(0, size)).empty());
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_TRUE(refusals_in(shown_packet(packet.substr(0, size))).empty()) << size;
  }
  EXPECT_TRUE(refusals_in(show_refusals()).empty());
}

}  // namespace
}  // namespace sallyport
