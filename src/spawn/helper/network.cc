// The jail's side of egress: makes every address the namespace's own, opens the sockets that answer for them, and hands
// those to the owner. The tool starts only after that, so it can never bind first.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <sys/socket.h>

#include "spawn/helper/run.h"
#include "spawn/helper/write_text.h"

namespace sallyport::spawn::helper {

long loopback_up() {
  const long fd = sys(__NR_socket, long{AF_INET}, long{SOCK_DGRAM | SOCK_CLOEXEC}, 0L);
  if (fd < 0) return fd;
  struct ifreq request = {};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const long up = sys(__NR_ioctl, fd, long{SIOCSIFFLAGS}, &request);
  sys(__NR_close, fd);
  return up;
}

namespace {

using wire::Stage;

// So many connections may wait for the owner; the kernel refuses more, which costs only the tool.
constexpr long kBacklog = 1024;

// Sends one datagram and reads one answer: an NLMSG_ERROR, whose number is 0 for success. After a success `kept` gets
// the socket, if the message wants it kept.
long ask_kernel(const Run& run, const wire::NetMessage& message, long& kept) {
  const long fd = sys(__NR_socket, long{AF_NETLINK}, long{SOCK_RAW | SOCK_CLOEXEC}, long{message.protocol});
  if (fd < 0) return fd;
  long result = sys(__NR_sendto, fd, run.at(message.bytes), long{message.size}, 0L, 0L, 0L);
  alignas(nlmsghdr) char answer[4096];
  if (result >= 0) {
    const long size = sys(__NR_recvfrom, fd, answer, long{sizeof answer}, 0L, 0L, 0L);
    const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
    const bool whole = size >= static_cast<long>(NLMSG_LENGTH(sizeof(int))) && header->nlmsg_type == NLMSG_ERROR;
    result = size < 0 ? size : whole ? *reinterpret_cast<const int*>(NLMSG_DATA(header)) : -71;  // EPROTO
  }
  if (result >= 0 && message.keep != 0) {
    kept = fd;
  } else {
    sys(__NR_close, fd);
  }
  return result;
}

// Serves IPv4 and IPv6 at once; on a kernel without IPv6 only IPv4.
long open_socket(const wire::NetSocket& wanted) {
  const long type = long{wanted.type} | SOCK_CLOEXEC | SOCK_NONBLOCK;
  struct sockaddr_in6 any = {};
  any.sin6_family = AF_INET6;
  any.sin6_port = static_cast<std::uint16_t>((wanted.port >> 8U) | (wanted.port << 8U));
  long fd = sys(__NR_socket, long{AF_INET6}, type, 0L);
  long address_size = sizeof any;
  if (fd >= 0) {
    const int both = 0;
    const long set = sys(__NR_setsockopt, fd, long{IPPROTO_IPV6}, long{IPV6_V6ONLY}, &both, long{sizeof both});
    if (set < 0) return set;
  } else {
    fd = sys(__NR_socket, long{AF_INET}, type, 0L);
    any.sin6_family = AF_INET;  // the port is at the same offset, and the address is 0.0.0.0
    address_size = 16;
  }
  if (fd < 0) return fd;
  const long bound = sys(__NR_bind, fd, &any, address_size);
  if (bound < 0) return bound;
  const long listening = wanted.type == SOCK_STREAM ? sys(__NR_listen, fd, kBacklog) : 0;
  return listening < 0 ? listening : fd;
}

// A jail's TCP goes no farther than this machine. By default its sockets' buffers grow to sizes for long-distance
// links, 6 MiB and more each; and BBR, if the host uses it, would pace the traffic. A host that forbids the change
// (/proc/sys read-only) keeps its values: slower and larger, but as safe.
void fit_tcp_to_short_ways(long proc) {
  static constexpr char kReceive[] = "4096 131072 1048576";
  static constexpr char kSend[] = "4096 16384 1048576";
  static constexpr char kReno[] = "reno";  // in every kernel
  write_text(proc, "sys/net/ipv4/tcp_rmem", kReceive, sizeof kReceive - 1);
  write_text(proc, "sys/net/ipv4/tcp_wmem", kSend, sizeof kSend - 1);
  write_text(proc, "sys/net/ipv4/tcp_congestion_control", kReno, sizeof kReno - 1);
}

// From here on we are in a network namespace of our own with nothing in it; the one that was made ahead keeps only its
// sockets.
bool leave_network(Steps& steps) {
  return steps.ok(Stage::kClone, sys(__NR_unshare, long{CLONE_NEWNET})) && steps.ok(Stage::kLoopback, loopback_up());
}

void close_sockets(const Network& network) {
  for (std::uint32_t i = 0; i < network.count; ++i) sys(__NR_close, long{network.sockets[i]});
}

// Makes the image's network in this namespace. `network` gets its sockets.
bool make_network(const Run& run, Network& network, Steps& steps) {
  const wire::Image& image = *run.image;
  fit_tcp_to_short_ways(run.proc_fd);
  const auto* messages = reinterpret_cast<const wire::NetMessage*>(run.at(image.net_messages_at));
  long kept = -1;
  for (std::uint32_t i = 0; i < image.net_message_count; ++i) {
    const bool fits = (network.flags & messages[i].only_with) == messages[i].only_with;
    if (!fits || (network.flags & messages[i].not_with) != 0) continue;
    const long done = ask_kernel(run, messages[i], kept);
    if (messages[i].required != 0 && !steps.ok(Stage::kNetwork, done)) return false;
    if (done >= 0) network.flags |= messages[i].flag_when_done;
  }
  const auto* wanted = reinterpret_cast<const wire::NetSocket*>(run.at(image.net_sockets_at));
  if (!steps.ok(Stage::kNetwork, image.net_socket_count <= wire::kMaxNetSockets ? 0 : -7)) return false;  // E2BIG
  for (std::uint32_t i = 0; i < image.net_socket_count; ++i) {
    network.sockets[i] = static_cast<int>(open_socket(wanted[i]));
    if (!steps.ok(Stage::kNetwork, network.sockets[i])) return false;
  }
  network.count = image.net_socket_count;
  if (kept >= 0) network.sockets[network.count++] = static_cast<int>(kept);
  return true;
}

}  // namespace

bool open_network(Run& run, Steps& steps) {
  if (run.image->net_socket_count == 0) return true;
  const Network ahead = run.network;
  run.network = {};
  if (ahead.count != 0 && !leave_network(steps)) return false;
  if (!make_network(run, run.network, steps)) return false;
  // Closed only now: with its last socket the kernel takes the old namespace down, under the lock that we have needed.
  close_sockets(ahead);
  return true;
}

void hand_over_network(Run& run) {
  const Network& network = run.network;
  if (network.count == 0) return;
  wire::Report report = {};
  report.kind = wire::ReportKind::kNetwork;
  report.flags = network.flags;
  send_report(run.fds[wire::kFdChannel], report, network.sockets, network.count);
  close_sockets(network);
}

}  // namespace sallyport::spawn::helper
