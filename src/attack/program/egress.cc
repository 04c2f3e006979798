// Around egress: reaching a host other than the one allowed, by any way out of the network namespace.
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/ethernet.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"
#include "attack/program/reach.h"

namespace sallyport::attacks {
namespace {

constexpr int kPatience = 3000;

void speak_to(const sockaddr_in& address, std::string_view text) {
  const int fd = connect_to(address);
  if (fd >= 0) say(fd, text);
}

void by_odd_address() {
  for (const char* spelling : {"2130706433", "0x7f000001", "0177.0.0.1", "127.1"}) {
    sockaddr_in address = loopback(arg_number("tcp"));
    if (inet_aton(spelling, &address.sin_addr) != 0) speak_to(address, "hello");
  }
}

void by_name(std::string_view name) {
  const int port = arg_number("tcp");
  const int fd = connect_by_name(name, port, port);
  if (fd < 0) return;
  say(fd, "hello");
  answered(fd, 500);  // time for the gate to connect on our behalf
}

// One process listens and passes bytes on, another connects to it.
void relay() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in here = loopback(0);
  socklen_t size = sizeof here;
  auto* const generic = reinterpret_cast<sockaddr*>(&here);
  if (bind(listener, generic, size) != 0 || listen(listener, 1) != 0 || getsockname(listener, generic, &size) != 0)
    return;
  if (fork() == 0) {
    speak_to(here, "hello");
    _exit(0);
  }
  char text[16];
  const int client = accept(listener, nullptr, nullptr);
  const ssize_t got = recv(client, text, sizeof text, 0);
  if (got > 0) speak_to(loopback(arg_number("tcp")), {text, static_cast<std::size_t>(got)});
}

void refusal_hangs() {
  const int fd = connect_to(loopback(arg_number("tcp")));
  if (fd >= 0 && !answered(fd, kPatience)) broken();
}

void refused_udp_hangs() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(arg_number("udp"));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  say(fd, "hello");
  if (!answered(fd, kPatience)) broken();
}

// A datagram sent without an error to where nobody can answer makes the sender wait for ever. Uses loopback, which
// every host has.
void if_group_hears(const char* group) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
  sockaddr_in from = loopback(0);
  sockaddr_in to = loopback(arg_number("udp"));
  inet_pton(AF_INET, group, &to.sin_addr);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) return;
  if (sendto(fd, "hello", 5, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 5) broken();
}

void if_group_hears_v6() {
  const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(static_cast<in_port_t>(arg_number("udp")));
  to.sin6_scope_id = 1;  // loopback
  inet_pton(AF_INET6, "ff01::1", &to.sin6_addr);
  if (sendto(fd, "hello", 5, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 5) broken();
}

void refused_connect_stands() {
  if (connect_to(loopback(arg_number("tcp"))) >= 0) broken();
}

void if_socket(int family, int type, int protocol) {
  if (socket(family, type | SOCK_CLOEXEC, protocol) >= 0) broken();
}

// This does not harm the host: the thing to remove does not exist. A plain user tries in its own namespace.
bool may_edit_network() { return geteuid() == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 || errno == EPERM; }

// Calls broken() when the kernel got as far as looking the thing up.
void ask(int protocol, const void* message, std::size_t size) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
  if (fd < 0 || send(fd, message, size, 0) < 0 || !answered(fd, kPatience)) return;
  alignas(nlmsghdr) char answer[4096];
  const ssize_t got = recv(fd, answer, sizeof answer, 0);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr))) || header->nlmsg_type != NLMSG_ERROR) return;
  errno = -static_cast<const nlmsgerr*>(NLMSG_DATA(header))->error;
  if (errno == EACCES) return;  // gVisor answers this instead of EPERM
  broken_if_looked_at(errno == 0 ? 0 : -1);
}

void route_edit() {
  if (!may_edit_network()) return;
  struct {
    nlmsghdr header;
    rtmsg route;
  } message{};
  message.header = {sizeof message, RTM_DELROUTE, NLM_F_REQUEST | NLM_F_ACK, 1, 0};
  message.route.rtm_family = AF_INET;
  message.route.rtm_table = RT_TABLE_LOCAL;
  message.route.rtm_type = RTN_LOCAL;
  message.route.rtm_scope = RT_SCOPE_HOST;
  ask(NETLINK_ROUTE, &message, sizeof message);
}

// One table of a name nobody uses, inside the batch that nf_tables asks for.
void nft_edit() {
  if (!may_edit_network()) return;
  struct Part {
    nlmsghdr header;
    nfgenmsg family;
  };
  struct {
    Part begin;
    Part table;
    nlattr name_header;
    char name[12];
    Part end;
  } batch{};
  constexpr std::uint16_t kTable = (NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_DELTABLE;
  batch.begin.header = {sizeof(Part), NFNL_MSG_BATCH_BEGIN, NLM_F_REQUEST, 1, 0};
  batch.begin.family.res_id = htons(NFNL_SUBSYS_NFTABLES);
  batch.table.header = {sizeof(Part) + sizeof(nlattr) + sizeof batch.name, kTable, NLM_F_REQUEST | NLM_F_ACK, 2, 0};
  batch.table.family.nfgen_family = AF_INET;
  batch.name_header = {sizeof(nlattr) + sizeof batch.name, NFTA_TABLE_NAME};
  memcpy(batch.name, "no-such-one", sizeof batch.name);
  batch.end.header = {sizeof(Part), NFNL_MSG_BATCH_END, NLM_F_REQUEST, 3, 0};
  batch.end.family.res_id = htons(NFNL_SUBSYS_NFTABLES);
  ask(NETLINK_NETFILTER, &batch, sizeof batch);
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"egress_by_odd_address", by_odd_address},
    Entry{"egress_by_name", [] { by_name("other.test"); }},
    Entry{"egress_relay", relay},
    Entry{"rebind_to_loopback", [] { by_name("localhost"); }},
    Entry{"refusal_hangs", refusal_hangs},
    Entry{"refused_udp_hangs", refused_udp_hangs},
    Entry{"refused_connect_stands", refused_connect_stands},
    Entry{"egress_multicast", [] { if_group_hears("224.0.0.251"); }},
    Entry{"egress_broadcast", [] { if_group_hears("255.255.255.255"); }},
    Entry{"egress_multicast_v6", if_group_hears_v6},
    Entry{"egress_doh",
          [] {
            speak_to(loopback(arg_number("tcp")),
                     "POST /dns-query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n");
          }},
    Entry{"egress_raw_socket",
          [] {
            if (may_edit_network()) if_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
          }},
    Entry{"egress_packet_socket",
          [] {
            if (may_edit_network()) if_socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
          }},
    Entry{"egress_vsock", [] { if_socket(AF_VSOCK, SOCK_STREAM, 0); }},
    Entry{"egress_route_edit", route_edit},
    Entry{"egress_nft_edit", nft_edit},
});

}  // namespace

std::span<const Entry> egress_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
