// The kernel's netlink numbers and structures that we use, under our own names. Do not include it together with libc's
// <netinet/in.h>: that conflicts with the kernel's headers.
#pragma once

#include <linux/in.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

namespace sallyport::netlink_abi {

// <linux/netlink.h>
struct MessageHeader {
  std::uint32_t length = 0;
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  std::uint32_t sequence = 0;
  std::uint32_t port = 0;
};
struct AttributeHeader {
  std::uint16_t length = 0;
  std::uint16_t type = 0;
};
static_assert(sizeof(MessageHeader) == sizeof(nlmsghdr) && sizeof(AttributeHeader) == sizeof(nlattr));
inline constexpr std::uint32_t kRoute = NETLINK_ROUTE;
inline constexpr std::uint32_t kNetfilter = NETLINK_NETFILTER;
inline constexpr unsigned kRequest = NLM_F_REQUEST;
inline constexpr unsigned kAck = NLM_F_ACK;
inline constexpr unsigned kCreate = NLM_F_CREATE;
inline constexpr unsigned kAppend = NLM_F_APPEND;
inline constexpr unsigned kNested = NLA_F_NESTED;
inline constexpr unsigned kAlignment = NLA_ALIGNTO;

// <linux/rtnetlink.h>
struct RouteMessage {
  std::uint8_t family = 0;
  std::uint8_t destination_bits = 0;
  std::uint8_t source_bits = 0;
  std::uint8_t tos = 0;
  std::uint8_t table = 0;
  std::uint8_t protocol = 0;
  std::uint8_t scope = 0;
  std::uint8_t type = 0;
  std::uint32_t flags = 0;
};
static_assert(sizeof(RouteMessage) == sizeof(rtmsg));
static_assert(offsetof(RouteMessage, table) == offsetof(rtmsg, rtm_table));
static_assert(offsetof(RouteMessage, type) == offsetof(rtmsg, rtm_type));
inline constexpr std::uint16_t kNewRoute = RTM_NEWROUTE;
inline constexpr std::uint8_t kFamilyV4 = AF_INET;
inline constexpr std::uint8_t kFamilyV6 = AF_INET6;
inline constexpr std::uint8_t kTableLocal = RT_TABLE_LOCAL;
inline constexpr std::uint8_t kProtocolStatic = RTPROT_STATIC;
inline constexpr std::uint8_t kScopeHost = RT_SCOPE_HOST;
inline constexpr std::uint8_t kTypeLocal = RTN_LOCAL;
inline constexpr std::uint8_t kTypeProhibit = RTN_PROHIBIT;
inline constexpr unsigned kRouteDestination = RTA_DST;
inline constexpr unsigned kRouteOutInterface = RTA_OIF;
inline constexpr unsigned kRouteTable = RTA_TABLE;

// <linux/netfilter/nfnetlink.h> and <linux/netfilter.h>
struct NetfilterMessage {
  std::uint8_t family = 0;
  std::uint8_t version = 0;
  std::uint16_t resource = 0;  // big-endian
};
static_assert(sizeof(NetfilterMessage) == sizeof(nfgenmsg));
inline constexpr std::uint16_t kBatchBegin = NFNL_MSG_BATCH_BEGIN;
inline constexpr std::uint16_t kBatchEnd = NFNL_MSG_BATCH_END;
inline constexpr std::uint16_t kSubsystemTables = NFNL_SUBSYS_NFTABLES;
inline constexpr std::uint8_t kFamilyInet = NFPROTO_INET;
inline constexpr std::uint8_t kNetfilterV4 = NFPROTO_IPV4;
inline constexpr std::uint8_t kNetfilterV6 = NFPROTO_IPV6;
inline constexpr std::uint32_t kDropVerdict = NF_DROP;
inline constexpr std::uint32_t kAcceptVerdict = NF_ACCEPT;
inline constexpr std::uint32_t kHookLocalOut = NF_INET_LOCAL_OUT;
inline constexpr std::uint8_t kProtocolTcp = IPPROTO_TCP;
inline constexpr std::uint8_t kProtocolUdp = IPPROTO_UDP;
inline constexpr std::uint16_t kSubsystemLog = NFNL_SUBSYS_ULOG;

// <linux/netfilter/nfnetlink_log.h>
inline constexpr std::uint16_t kLogConfig = NFULNL_MSG_CONFIG;
inline constexpr unsigned kLogCommand = NFULA_CFG_CMD;
inline constexpr std::uint8_t kLogBind = NFULNL_CFG_CMD_BIND;
inline constexpr std::uint16_t kLogPayload = NFULA_PAYLOAD;

// <linux/netfilter/nf_tables.h>
inline constexpr std::uint16_t kNewTable = NFT_MSG_NEWTABLE;
inline constexpr std::uint16_t kNewChain = NFT_MSG_NEWCHAIN;
inline constexpr std::uint16_t kNewRule = NFT_MSG_NEWRULE;
inline constexpr unsigned kTableName = NFTA_TABLE_NAME;
inline constexpr unsigned kChainTable = NFTA_CHAIN_TABLE;
inline constexpr unsigned kChainName = NFTA_CHAIN_NAME;
inline constexpr unsigned kChainHook = NFTA_CHAIN_HOOK;
inline constexpr unsigned kChainPolicy = NFTA_CHAIN_POLICY;
inline constexpr unsigned kChainType = NFTA_CHAIN_TYPE;
inline constexpr unsigned kHookNumber = NFTA_HOOK_HOOKNUM;
inline constexpr unsigned kHookPriority = NFTA_HOOK_PRIORITY;
inline constexpr unsigned kRuleTable = NFTA_RULE_TABLE;
inline constexpr unsigned kRuleChain = NFTA_RULE_CHAIN;
inline constexpr unsigned kRuleExpressions = NFTA_RULE_EXPRESSIONS;
inline constexpr unsigned kListElement = NFTA_LIST_ELEM;
inline constexpr unsigned kExpressionName = NFTA_EXPR_NAME;
inline constexpr unsigned kExpressionData = NFTA_EXPR_DATA;
inline constexpr unsigned kDataValue = NFTA_DATA_VALUE;
inline constexpr unsigned kDataVerdict = NFTA_DATA_VERDICT;
inline constexpr unsigned kVerdictCode = NFTA_VERDICT_CODE;
inline constexpr unsigned kVerdictChain = NFTA_VERDICT_CHAIN;
inline constexpr std::uint32_t kGotoVerdict = static_cast<std::uint32_t>(NFT_GOTO);
inline constexpr unsigned kMetaRegister = NFTA_META_DREG;
inline constexpr unsigned kMetaKey = NFTA_META_KEY;
inline constexpr std::uint32_t kMetaFamily = NFT_META_NFPROTO;
inline constexpr std::uint32_t kMetaTransport = NFT_META_L4PROTO;
inline constexpr unsigned kPayloadRegister = NFTA_PAYLOAD_DREG;
inline constexpr unsigned kPayloadBase = NFTA_PAYLOAD_BASE;
inline constexpr unsigned kPayloadOffset = NFTA_PAYLOAD_OFFSET;
inline constexpr unsigned kPayloadLength = NFTA_PAYLOAD_LEN;
inline constexpr std::uint32_t kNetworkHeader = NFT_PAYLOAD_NETWORK_HEADER;
inline constexpr std::uint32_t kTransportHeader = NFT_PAYLOAD_TRANSPORT_HEADER;
inline constexpr unsigned kCompareRegister = NFTA_CMP_SREG;
inline constexpr unsigned kCompareOperation = NFTA_CMP_OP;
inline constexpr unsigned kCompareData = NFTA_CMP_DATA;
inline constexpr std::uint32_t kCompareEqual = NFT_CMP_EQ;
inline constexpr std::uint32_t kCompareUnequal = NFT_CMP_NEQ;
inline constexpr std::uint32_t kCompareAtLeast = NFT_CMP_GTE;
inline constexpr unsigned kBitwiseSource = NFTA_BITWISE_SREG;
inline constexpr unsigned kBitwiseTarget = NFTA_BITWISE_DREG;
inline constexpr unsigned kBitwiseLength = NFTA_BITWISE_LEN;
inline constexpr unsigned kBitwiseMask = NFTA_BITWISE_MASK;
inline constexpr unsigned kBitwiseXor = NFTA_BITWISE_XOR;
inline constexpr unsigned kLogGroup = NFTA_LOG_GROUP;
inline constexpr unsigned kLogSnapLength = NFTA_LOG_SNAPLEN;
inline constexpr unsigned kLogThreshold = NFTA_LOG_QTHRESHOLD;
inline constexpr unsigned kRejectType = NFTA_REJECT_TYPE;
inline constexpr unsigned kRejectCode = NFTA_REJECT_ICMP_CODE;
inline constexpr std::uint32_t kRejectByReset = NFT_REJECT_TCP_RST;
inline constexpr std::uint32_t kRejectByIcmp = NFT_REJECT_ICMPX_UNREACH;  // of either family
inline constexpr std::uint8_t kIcmpPortUnreachable = NFT_REJECT_ICMPX_PORT_UNREACH;
inline constexpr unsigned kImmediateRegister = NFTA_IMMEDIATE_DREG;
inline constexpr unsigned kImmediateData = NFTA_IMMEDIATE_DATA;
inline constexpr unsigned kRedirectPort = NFTA_REDIR_REG_PROTO_MIN;
inline constexpr std::uint32_t kVerdictRegister = NFT_REG_VERDICT;
inline constexpr std::uint32_t kFirstRegister = NFT_REG_1;

}  // namespace sallyport::netlink_abi
