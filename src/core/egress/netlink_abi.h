// The kernel's netlink numbers that we use. Written out, because core names no header of the operating system; the test
// compares every one with <linux/…>. They are the kernel's promise to user space and never change.
#pragma once

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
inline constexpr unsigned kRequest = 0x01;
inline constexpr unsigned kAck = 0x04;
inline constexpr unsigned kCreate = 0x400;
inline constexpr unsigned kAppend = 0x800;
inline constexpr unsigned kNested = 1U << 15;
inline constexpr unsigned kAlignment = 4;

// <linux/rtnetlink.h>
struct LinkMessage {
  std::uint8_t family = 0;
  std::uint8_t padding = 0;
  std::uint16_t type = 0;
  std::int32_t index = 0;
  std::uint32_t flags = 0;
  std::uint32_t change = 0;
};
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
inline constexpr std::uint16_t kNewLink = 16;
inline constexpr std::uint16_t kNewRoute = 24;
inline constexpr std::uint8_t kFamilyV4 = 2;
inline constexpr std::uint8_t kFamilyV6 = 10;
inline constexpr std::uint32_t kInterfaceUp = 1;
inline constexpr std::uint8_t kTableLocal = 255;
inline constexpr std::uint8_t kProtocolStatic = 4;
inline constexpr std::uint8_t kScopeHost = 254;
inline constexpr std::uint8_t kTypeLocal = 2;
inline constexpr std::uint8_t kTypeProhibit = 8;
inline constexpr unsigned kRouteDestination = 1;
inline constexpr unsigned kRouteOutInterface = 4;
inline constexpr unsigned kRouteTable = 15;

// <linux/netfilter/nfnetlink.h> and <linux/netfilter.h>
struct NetfilterMessage {
  std::uint8_t family = 0;
  std::uint8_t version = 0;
  std::uint16_t resource = 0;  // big-endian
};
inline constexpr std::uint16_t kBatchBegin = 16;
inline constexpr std::uint16_t kBatchEnd = 17;
inline constexpr std::uint16_t kSubsystemTables = 10;
inline constexpr std::uint8_t kFamilyInet = 1;
inline constexpr std::uint8_t kNetfilterV4 = 2;
inline constexpr std::uint8_t kNetfilterV6 = 10;
inline constexpr std::uint32_t kDropVerdict = 0;
inline constexpr std::uint32_t kAcceptVerdict = 1;
inline constexpr std::uint32_t kHookLocalOut = 3;
inline constexpr std::uint8_t kProtocolTcp = 6;
inline constexpr std::uint8_t kProtocolUdp = 17;
inline constexpr std::uint16_t kSubsystemLog = 4;

// <linux/netfilter/nfnetlink_log.h>
inline constexpr std::uint16_t kLogConfig = 1;
inline constexpr unsigned kLogCommand = 1;
inline constexpr std::uint8_t kLogBind = 1;
inline constexpr std::uint16_t kLogPayload = 9;

// <linux/netfilter/nf_tables.h>
inline constexpr std::uint16_t kNewTable = 0;
inline constexpr std::uint16_t kNewChain = 3;
inline constexpr std::uint16_t kNewRule = 6;
inline constexpr unsigned kTableName = 1;
inline constexpr unsigned kChainTable = 1;
inline constexpr unsigned kChainName = 3;
inline constexpr unsigned kChainHook = 4;
inline constexpr unsigned kChainPolicy = 5;
inline constexpr unsigned kChainType = 7;
inline constexpr unsigned kHookNumber = 1;
inline constexpr unsigned kHookPriority = 2;
inline constexpr unsigned kRuleTable = 1;
inline constexpr unsigned kRuleChain = 2;
inline constexpr unsigned kRuleExpressions = 4;
inline constexpr unsigned kListElement = 1;
inline constexpr unsigned kExpressionName = 1;
inline constexpr unsigned kExpressionData = 2;
inline constexpr unsigned kDataValue = 1;
inline constexpr unsigned kDataVerdict = 2;
inline constexpr unsigned kVerdictCode = 1;
inline constexpr unsigned kVerdictChain = 2;
inline constexpr std::uint32_t kGotoVerdict = static_cast<std::uint32_t>(-4);
inline constexpr unsigned kMetaRegister = 1;
inline constexpr unsigned kMetaKey = 2;
inline constexpr std::uint32_t kMetaFamily = 15;
inline constexpr std::uint32_t kMetaTransport = 16;
inline constexpr unsigned kPayloadRegister = 1;
inline constexpr unsigned kPayloadBase = 2;
inline constexpr unsigned kPayloadOffset = 3;
inline constexpr unsigned kPayloadLength = 4;
inline constexpr std::uint32_t kNetworkHeader = 1;
inline constexpr std::uint32_t kTransportHeader = 2;
inline constexpr unsigned kCompareRegister = 1;
inline constexpr unsigned kCompareOperation = 2;
inline constexpr unsigned kCompareData = 3;
inline constexpr std::uint32_t kCompareEqual = 0;
inline constexpr std::uint32_t kCompareUnequal = 1;
inline constexpr std::uint32_t kCompareAtLeast = 5;
inline constexpr unsigned kBitwiseSource = 1;
inline constexpr unsigned kBitwiseTarget = 2;
inline constexpr unsigned kBitwiseLength = 3;
inline constexpr unsigned kBitwiseMask = 4;
inline constexpr unsigned kBitwiseXor = 5;
inline constexpr unsigned kLogGroup = 1;
inline constexpr unsigned kLogSnapLength = 3;
inline constexpr unsigned kLogThreshold = 4;
inline constexpr unsigned kRejectType = 1;
inline constexpr unsigned kRejectCode = 2;
inline constexpr std::uint32_t kRejectByReset = 1;
inline constexpr std::uint32_t kRejectByIcmp = 2;  // of either family
inline constexpr std::uint8_t kIcmpPortUnreachable = 1;
inline constexpr unsigned kImmediateRegister = 1;
inline constexpr unsigned kImmediateData = 2;
inline constexpr unsigned kRedirectPort = 1;
inline constexpr std::uint32_t kVerdictRegister = 0;
inline constexpr std::uint32_t kFirstRegister = 1;

}  // namespace sallyport::netlink_abi
