// The messages that make a fresh network namespace answer for every address, as the bytes to write to a netlink socket.
// Whoever writes them needs CAP_NET_ADMIN in that namespace. Each string is one datagram and gets one answer: an
// NLMSG_ERROR whose number is 0 for yes. Of several answers the first counts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sallyport {

// NETLINK_ROUTE: `ip link set lo up`. It is interface 1 in every namespace.
[[nodiscard]] std::string bring_up_loopback();

// NETLINK_ROUTE: `ip [-6] route add local default dev lo table local`: every address is this machine's own.
[[nodiscard]] std::string local_route(bool v6);

// NETLINK_NETFILTER: sends every TCP connection that is neither to a loopback address nor to a listening port to the
// port `catch_all` of 127.0.0.1 or ::1, where SO_ORIGINAL_DST (IP6T_SO_ORIGINAL_DST) tells what was wanted:
//
//   table inet sallyport { chain output { type nat hook output priority -100; policy accept;
//     ip daddr 127.0.0.0/8 accept; ip6 daddr ::1 accept; tcp dport P accept …; meta l4proto tcp redirect to :catch_all } }
//
// One transaction: all of it or nothing. Needs a kernel with nft_chain_nat and nft_redir (5.2 on for family inet).
[[nodiscard]] std::string redirect_other_ports(std::span<const std::uint16_t> listening, std::uint16_t catch_all);

}  // namespace sallyport
