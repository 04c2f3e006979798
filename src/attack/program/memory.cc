// Memory that the kernel keeps for a process without it being the process's own: buffers of sockets and pipes, queues,
// records. Each deed tries to hold four times the limit of 64 MiB, and holds it all at once.
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

constexpr std::size_t kMebibyte = 1U << 20U;
constexpr std::size_t kTooMuch = 256 * kMebibyte;  // the limit is 64 MiB
constexpr int kMostSockets = 900;                  // of one process; many hosts allow 1,024 descriptors

void more_descriptors() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

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
void hold_begun_datagrams(int flags) {
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

void hold_datagrams(int family, int protocol) {
  more_descriptors();
  socklen_t size = 0;
  const sockaddr_in6 anywhere = loopback(family == AF_INET6, size);
  std::vector<int> sockets;
  for (int made = 0; made < kMostSockets && !hold_too_much(sockets); ++made) {
    const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
    if (fd < 0) break;
    large_buffers(fd);
    sockaddr_in6 address = anywhere;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd, any, size) != 0) break;
    getsockname(fd, any, &size);
    if (connect(fd, any, size) != 0) break;
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
  socklen_t size = 0;
  const sockaddr_in6 anywhere = loopback(false, size);
  std::vector<int> sockets;
  for (int made = 0; made < kMostSockets && !hold_too_much(sockets); ++made) {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) break;
    large_buffers(fd);
    sockaddr_in6 address = anywhere;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd, any, size) != 0) break;
    getsockname(fd, any, &size);
    if (connect(fd, any, size) != 0) break;
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

void memory_pipes() {
  more_descriptors();
  std::size_t held = 0;
  const std::string chunk(kMebibyte, 'x');
  for (int made = 0; made < kMostSockets * 4 && held < kTooMuch; ++made) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) break;
    fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(kMebibyte));
    ssize_t written = 0;
    while ((written = write(ends[1], chunk.data(), chunk.size())) > 0) held += static_cast<std::size_t>(written);
  }
  if (held >= kTooMuch) broken();
}

// One page of page tables for each 2 MiB that is looked at once.
void memory_page_tables() {
  constexpr std::size_t kStep = 2 * kMebibyte;
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kRegion = kTooMuch / kPage * kStep;
  auto* const memory = static_cast<volatile char*>(
      mmap(nullptr, kRegion, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED) return;
  madvise(const_cast<char*>(memory), kRegion, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < kRegion; at += kStep) static_cast<void>(memory[at]);
  broken();
}

void memory_message_queues() {
  struct {
    long type = 1;
    char text[8192] = {};
  } message;
  std::vector<int> queues;
  std::size_t held = 0;
  for (int made = 0; made < 32'000 && held < kTooMuch; ++made) {
    const int queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    if (queue < 0) break;
    queues.push_back(queue);
    while (msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0) held += sizeof message.text;
  }
  if (held >= kTooMuch) broken();
  for (const int queue : queues) msgctl(queue, IPC_RMID, nullptr);
}

// Every epoll instance keeps a record of each descriptor it watches.
void memory_epoll() {
  more_descriptors();
  constexpr std::size_t kRecord = 192;  // struct epitem and its wait queue entry
  std::vector<int> events;
  for (int i = 0; i < kMostSockets; ++i) events.push_back(eventfd(0, EFD_CLOEXEC));
  std::size_t held = 0;
  for (int made = 0; made < 2000 && held < kTooMuch; ++made) {
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) break;
    for (const int fd : events) {
      epoll_event event{.events = EPOLLIN, .data = {}};
      if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) break;
      held += kRecord;
    }
  }
  if (held >= kTooMuch) broken();
}

// Events that nobody reads, each with a long name.
void memory_inotify() {
  const std::string directory = "/tmp/sallyport-inotify-" + arg("marker");
  if (mkdir(directory.c_str(), 0700) != 0) return;
  std::vector<int> watchers;
  for (int i = 0; i < 100; ++i) {
    const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0 || inotify_add_watch(fd, directory.c_str(), IN_CREATE | IN_DELETE) < 0) break;
    watchers.push_back(fd);
  }
  constexpr std::size_t kEvent = 320;  // the name's 240 bytes and the record
  const std::array names{directory + "/" + std::string(240, 'a'), directory + "/" + std::string(240, 'b')};
  std::size_t held = 0;
  for (int i = 0; i < 8000; ++i) {
    const std::string& name = names[static_cast<std::size_t>(i) % names.size()];
    if (mknod(name.c_str(), S_IFREG | 0600, 0) != 0) break;
    unlink(name.c_str());
    held += 2 * kEvent * watchers.size();
  }
  for (const std::string& name : names) unlink(name.c_str());
  rmdir(directory.c_str());
  if (held >= kTooMuch) broken();
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"memory_tcp", memory_tcp},
    Entry{"memory_many_sockets", memory_many_sockets},
    Entry{"memory_corked", [] { hold_begun_datagrams(0); }},
    Entry{"memory_unfinished", [] { hold_begun_datagrams(MSG_MORE); }},
    Entry{"memory_udp", [] { hold_datagrams(AF_INET, 0); }},
    Entry{"memory_udp6", [] { hold_datagrams(AF_INET6, 0); }},
    Entry{"memory_udp_small", memory_udp_small},
    Entry{"memory_unix_stream", [] { hold_unix(SOCK_STREAM); }},
    Entry{"memory_unix_datagram", [] { hold_unix(SOCK_DGRAM); }},
    Entry{"memory_netlink", memory_netlink},
    Entry{"memory_pipes", memory_pipes},
    Entry{"memory_page_tables", memory_page_tables},
    Entry{"memory_message_queues", memory_message_queues},
    Entry{"memory_epoll", memory_epoll},
    Entry{"memory_inotify", memory_inotify},
});

}  // namespace

std::span<const Entry> memory_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
