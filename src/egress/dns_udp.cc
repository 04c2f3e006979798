#include "egress/dns_udp.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "egress/dns_responder.h"
#include "egress/socket_errors.h"
#include "os/pipe.h"

namespace sallyport {
namespace {

constexpr int kAnswersAtOnce = 64;

void want_destinations(int fd) {
  const int on = 1;
  // On each socket one of the two families fails; without this option the kernel chooses the answer's source address.
  ::setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
  // For IPv6, sending from an address needs more than a local route; this option is enough, and needs no privilege.
  ::setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof on);
}

// Turns the address a datagram was sent to into the address its answer is sent from.
bool answer_from_there(cmsghdr& header) {
  if (header.cmsg_level == IPPROTO_IP && header.cmsg_type == IP_PKTINFO) {
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(&header), sizeof info);
    const in_pktinfo answer{.ipi_ifindex = 0, .ipi_spec_dst = info.ipi_addr, .ipi_addr = {}};
    std::memcpy(CMSG_DATA(&header), &answer, sizeof answer);
    return true;
  }
  if (header.cmsg_level == IPPROTO_IPV6 && header.cmsg_type == IPV6_PKTINFO) {
    in6_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(&header), sizeof info);
    info.ipi6_ifindex = 0;
    std::memcpy(CMSG_DATA(&header), &info, sizeof info);
    return true;
  }
  return false;
}

}  // namespace

Status DnsUdp::serve_on(UniqueFd socket) {
  TRY(set_nonblocking(socket.get()));
  want_destinations(socket.get());
  Watch watch = TRY(run_.loop->watch(socket.get(), EPOLLIN, *this));
  sockets_.push_back({.fd = std::move(socket), .watch = std::move(watch)});
  return {};
}

void DnsUdp::ready(int fd, std::uint32_t /*events*/) {
  for (int i = 0; i < kAnswersAtOnce && answer_one(fd); ++i) {
  }
}

// False: nothing more to read.
bool DnsUdp::answer_one(int fd) {
  SocketAddress from;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(in_pktinfo))> control{};
  iovec query{.iov_base = run_.buffer.data(), .iov_len = run_.buffer.size()};
  msghdr message{};
  message.msg_name = from.get();
  message.msg_namelen = sizeof from.storage;
  message.msg_iov = &query;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(fd, &message, 0);
  // Any other error is the ICMP answer to a rejected answer of ours: ignore it.
  if (got < 0) return !would_block(errno);
  std::optional<std::vector<std::uint8_t>> answer =
      answer_dns(run_, std::span(run_.buffer).first(static_cast<std::size_t>(got)));
  if (!answer) return true;
  iovec reply{.iov_base = answer->data(), .iov_len = answer->size()};
  message.msg_iov = &reply;
  message.msg_flags = 0;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && answer_from_there(*header)) {
    message.msg_controllen = CMSG_SPACE(header->cmsg_len - CMSG_LEN(0));
  } else {
    message.msg_control = nullptr;
    message.msg_controllen = 0;
  }
  static_cast<void>(::sendmsg(fd, &message, MSG_NOSIGNAL));  // lost, like any datagram: the client asks again
  return true;
}

void DnsUdp::close_all() { sockets_.clear(); }

}  // namespace sallyport
