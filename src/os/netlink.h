// The messages that make a fresh network namespace answer for every address, as the bytes to write to a netlink socket of
// their protocol. The writer needs CAP_NET_ADMIN in that namespace. Each is one datagram and gets one answer: an
// NLMSG_ERROR whose number is 0 for success. Of several answers the first counts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/egress/ip_address.h"

namespace sallyport {

struct NetlinkDatagram {
  std::uint32_t protocol = 0;  // NETLINK_ROUTE or NETLINK_NETFILTER
  std::string bytes{};
};

// NETLINK_ROUTE: `ip [-6] route add local default dev lo table local`: every address is this machine's own.
[[nodiscard]] NetlinkDatagram local_route(bool v6);

// NETLINK_NETFILTER: sends every TCP connection that is neither to a loopback address nor to a listening port to the
// port `catch_all` of 127.0.0.1 or ::1, where SO_ORIGINAL_DST (IP6T_SO_ORIGINAL_DST) gives the wanted address:
//
//   table inet sallyport { chain output { type nat hook output priority -100; policy accept;
//     ip daddr 127.0.0.0/8 accept; ip6 daddr ::1 accept; tcp dport P accept …; meta l4proto tcp redirect to :catch_all } }
//
// One atomic transaction. Needs a kernel with nft_chain_nat and nft_redir (5.2 on for family inet).
[[nodiscard]] NetlinkDatagram redirect_other_ports(std::span<const std::uint16_t> listening, std::uint16_t catch_all);

// NETLINK_ROUTE: `ip [-6] route add prohibit` for multicast and, in IPv4, broadcast: a sender gets EACCES. A sender
// that names its interface or source address does not; refusing that one needs nftables.
[[nodiscard]] NetlinkDatagram prohibit_groups(bool v6);

// NETLINK_NETFILTER: while the socket that gets this message is open, the kernel reports to it what refuse_at_once()
// refuses, each as one datagram for parse_refusals(). Reading needs no capability.
[[nodiscard]] NetlinkDatagram show_refusals();

// NETLINK_NETFILTER: refuses, before a connection exists, what no rule of a run could allow: TCP to anything but a
// listening port of a synthetic address (address_book.h), DNS, and the jail's loopback on ports outside `listening`;
// UDP except DNS and loopback; everything to multicast and broadcast. connect() fails with ECONNREFUSED, send() with
// EPERM.
//
//   table inet sallyport {
//     chain judge { type filter hook output priority -150; policy accept;
//       tcp flags & (fin|syn|rst|ack) != syn accept
//       ip daddr >= 224.0.0.0 log group 1 drop; meta l4proto udp ip6 daddr ff00::/8 log group 1 drop
//       tcp dport 53 accept; udp dport 53 accept; udp sport 53 accept
//       ip daddr 127.0.0.0/8 goto own; ip6 daddr ::1 goto own
//       ip daddr 198.18.0.0/15 goto named; ip6 daddr 2001:2::/48 goto named
//       meta l4proto tcp log group 1 reject with tcp reset; meta l4proto udp log group 1 reject }
//     chain named { tcp dport P accept …; then as at the end of judge }
//     chain own { tcp dport P log group 1 reject with tcp reset … } }
//
// One transaction. Needs nft_log, nft_reject_inet and nfnetlink_log.
[[nodiscard]] NetlinkDatagram refuse_at_once(std::span<const std::uint16_t> listening);

struct RefusedPacket {
  IpAddress address{};  // the destination
  std::uint16_t port = 0;
  bool udp = false;  // or something else that is not TCP
};
[[nodiscard]] std::vector<RefusedPacket> parse_refusals(std::span<const std::uint8_t> datagram);

}  // namespace sallyport
