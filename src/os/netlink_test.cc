// Parses the bytes as the kernel would. The tests of the jail's egress show their effect in a network namespace.
#include "os/netlink.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "os/netlink_abi.h"

namespace sallyport {
namespace {

namespace abi = netlink_abi;

// The headers of a datagram's messages; the kernel ignores what follows a wrong length.
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
  for (const NetlinkDatagram& datagram :
       {local_route(false), local_route(true), prohibit_groups(false), prohibit_groups(true), show_refusals(),
        refuse_at_once(ports), redirect_other_ports(ports, 40000)}) {
    int answers = 0;
    for (const abi::MessageHeader& header : headers_of(datagram.bytes)) {
      EXPECT_NE(header.flags & abi::kRequest, 0U);
      answers += (header.flags & abi::kAck) != 0 ? 1 : 0;
    }
    EXPECT_EQ(answers, 1);
  }
}

TEST(Netlink, TheRedirectionIsOneTransactionWithARuleForEachPort) {
  const std::vector<std::uint16_t> ports = {80, 443, 8080};
  const std::vector<abi::MessageHeader> headers = headers_of(redirect_other_ports(ports, 40000).bytes);
  ASSERT_EQ(headers.size(), 2U + 2 + 2 + ports.size() + 1);
  EXPECT_EQ(headers.front().type, abi::kBatchBegin);
  EXPECT_EQ(headers.back().type, abi::kBatchEnd);
  for (std::size_t i = 1; i < headers.size(); ++i) EXPECT_EQ(headers[i].sequence, headers[i - 1].sequence + 1);
  EXPECT_NE(headers[headers.size() - 2].flags & abi::kAck, 0U) << "the last rule answers for all";
}

// A refusal as the kernel shows it: a header, a netfilter header, a time (skipped), the packet.
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
  EXPECT_TRUE(refusals_in(show_refusals().bytes).empty());
}

}  // namespace
}  // namespace sallyport
