// Memory that the kernel keeps for a process in buffers of sockets. Each deed tries to hold four times the limit of 64 MiB,
// and holds it all at once.
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "attack/program/attack.h"
#include "attack/program/memory.h"

namespace sallyport::attacks {
namespace {

// What the kernel says it keeps for one socket: received and not read, queued and not sent.
std::size_t held_by(int fd) {
  std::array<std::uint32_t, 9> info{};
  socklen_t size = sizeof info;
  constexpr int kMemInfo = 55;  // SO_MEMINFO
  if (getsockopt(fd, SOL_SOCKET, kMemInfo, info.data(), &size) != 0) return 0;
  return std::size_t{info[0]} + info[5];
}

void large_buffers(int fd) {
  const int wanted = 64 << 20;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
}

void send_all_it_takes(int fd, std::size_t size) {
  const std::string chunk(size, 'x');
  for (int refused = 0; refused < 3;) {
    if (send(fd, chunk.data(), chunk.size(), MSG_DONTWAIT | MSG_NOSIGNAL) <= 0) ++refused;
  }
}

bool hold_too_much(const std::vector<int>& sockets) {
  std::size_t held = 0;
  for (const int fd : sockets) held += held_by(fd);
  return held >= kTooMuch;
}

void broken_if_held(const std::vector<int>& sockets) {
  usleep(100'000);
  if (hold_too_much(sockets)) broken();
}

sockaddr_in6 loopback(bool six, socklen_t& size) {
  sockaddr_in6 address{};
  if (six) {
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    size = sizeof address;
    return address;
  }
  auto* const four = reinterpret_cast<sockaddr_in*>(&address);
  four->sin_family = AF_INET;
  four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  size = sizeof *four;
  return address;
}

void memory_tcp() {
  more_descriptors();
  socklen_t size = 0;
  sockaddr_in6 address = loopback(false, size);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  large_buffers(listener);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, any, size) != 0 || listen(listener, 128) != 0) return;
  getsockname(listener, any, &size);
  std::vector<int> sockets;
  for (int made = 0; made < kMostSockets / 2 && !hold_too_much(sockets); ++made) {
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0) break;
    large_buffers(client);
    if (connect(client, any, size) != 0) break;
    const int server = accept(listener, nullptr, nullptr);
    if (server < 0) break;
    send_all_it_takes(client, kMebibyte / 4);
    send_all_it_takes(server, kMebibyte / 4);
    sockets.push_back(client);
    sockets.push_back(server);
  }
  broken_if_held(sockets);
}

// Few bytes in each of very many: what the kernel grants every socket, whatever the limit.
void memory_many_sockets() {
  more_descriptors();
  socklen_t size = 0;
  sockaddr_in6 address = loopback(false, size);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, any, size) != 0 || listen(listener, 4096) != 0) return;
  getsockname(listener, any, &size);
  std::size_t held = 0;
  for (int made = 0; made < 8'000 && held < kTooMuch; ++made) {
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0 || connect(client, any, size) != 0) break;
    const int server = accept(listener, nullptr, nullptr);
    if (server < 0) break;
    send_all_it_takes(client, kMebibyte / 4);
    send_all_it_takes(server, kMebibyte / 4);
    held += held_by(client) + held_by(server);
  }
  usleep(100'000);
  if (held >= kTooMuch) broken();
}

// Datagrams that are started and never finished.
void hold_unsent_datagrams(int flags) {
  more_descriptors();
  socklen_t size = 0;
  sockaddr_in6 address = loopback(false, size);
  reinterpret_cast<sockaddr_in*>(&address)->sin_port = htons(9);
  const std::string text(65'000, 'x');
  std::size_t held = 0;
  for (int made = 0; made < 8'000 && held < kTooMuch; ++made) {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), size) != 0) break;
    const int on = 1;
    if (flags == 0 && setsockopt(fd, IPPROTO_UDP, UDP_CORK, &on, sizeof on) != 0) break;
    if (send(fd, text.data(), text.size(), flags) < 0) break;
    held += text.size();
  }
  if (held >= kTooMuch) broken();
}

// A socket with large buffers whose datagrams come back to it; -1 when there are no more.
int datagrams_to_itself(int family, int protocol) {
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
  if (fd < 0) return -1;
  large_buffers(fd);
  socklen_t size = 0;
  sockaddr_in6 address = loopback(family == AF_INET6, size);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd, any, size) != 0) return -1;
  getsockname(fd, any, &size);
  return connect(fd, any, size) == 0 ? fd : -1;
}

void hold_datagrams(int family, int protocol) {
  more_descriptors();
  std::vector<int> sockets;
  for (int made = 0; made < kMostSockets && !hold_too_much(sockets); ++made) {
    const int fd = datagrams_to_itself(family, protocol);
    if (fd < 0) break;
    for (std::size_t before = 0, now = 0; send(fd, std::string(60'000, 'x').data(), 60'000, MSG_DONTWAIT) > 0;) {
      now = held_by(fd);
      if (now <= before) break;  // dropped: its queue is full
      before = now;
    }
    sockets.push_back(fd);
  }
  broken_if_held(sockets);
}

// One byte each: what a datagram costs besides its content.
void memory_udp_small() {
  more_descriptors();
  std::vector<int> sockets;
  for (int made = 0; made < kMostSockets && !hold_too_much(sockets); ++made) {
    const int fd = datagrams_to_itself(AF_INET, 0);
    if (fd < 0) break;
    std::size_t before = 0;
    for (;;) {
      for (int i = 0; i < 64; ++i) static_cast<void>(!send(fd, "x", 1, MSG_DONTWAIT));
      const std::size_t now = held_by(fd);
      if (now <= before) break;
      before = now;
    }
    sockets.push_back(fd);
  }
  broken_if_held(sockets);
}

void hold_unix(int type) {
  more_descriptors();
  std::size_t held = 0;
  const std::string chunk(100'000, 'x');
  for (int made = 0; made < kMostSockets / 2 && held < kTooMuch; ++made) {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair.data()) != 0) break;
    large_buffers(pair[0]);
    large_buffers(pair[1]);
    for (const int fd : pair) {
      ssize_t sent = 0;
      while (held < kTooMuch && (sent = send(fd, chunk.data(), chunk.size(), MSG_DONTWAIT)) > 0)
        held += static_cast<std::size_t>(sent);
    }
  }
  if (held >= kTooMuch) broken();
}

// Answers of the kernel that nobody reads.
void memory_netlink() {
  more_descriptors();
  struct {
    nlmsghdr head;
    ifinfomsg link;
  } question{};
  question.head = {.nlmsg_len = sizeof question,
                   .nlmsg_type = RTM_GETLINK,
                   .nlmsg_flags = NLM_F_REQUEST,
                   .nlmsg_seq = 1,
                   .nlmsg_pid = 0};
  question.link.ifi_index = 1;
  std::vector<int> sockets;
  for (int made = 0; made < kMostSockets && !hold_too_much(sockets); ++made) {
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) break;
    large_buffers(fd);
    for (std::size_t before = 0, now = 0; send(fd, &question, sizeof question, MSG_DONTWAIT) > 0; before = now) {
      now = held_by(fd);
      if (now <= before) break;
    }
    sockets.push_back(fd);
  }
  broken_if_held(sockets);
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"memory_tcp", memory_tcp},
    Entry{"memory_many_sockets", memory_many_sockets},
    Entry{"memory_corked", [] { hold_unsent_datagrams(0); }},
    Entry{"memory_unfinished", [] { hold_unsent_datagrams(MSG_MORE); }},
    Entry{"memory_udp", [] { hold_datagrams(AF_INET, 0); }},
    Entry{"memory_udp6", [] { hold_datagrams(AF_INET6, 0); }},
    Entry{"memory_udp_small", memory_udp_small},
    Entry{"memory_unix_stream", [] { hold_unix(SOCK_STREAM); }},
    Entry{"memory_unix_datagram", [] { hold_unix(SOCK_DGRAM); }},
    Entry{"memory_netlink", memory_netlink},
});

}  // namespace

std::span<const Entry> memory_socket_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
