#include "spawn/helper/loopback_pair.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <sys/socket.h>

#include "spawn/freestanding/poll.h"

namespace sallyport::spawn::helper {
namespace {

constexpr int kBufferSize = 256 * 1024;
// Both ends are ours and on this machine: it takes longer only when another process floods the port that we open for a
// moment.
constexpr long kPatienceSeconds = 1;
constexpr int kMostStrangers = 16;

void set_number(long fd, long level, long option, int value) {
  sys(__NR_setsockopt, fd, level, option, &value, long{sizeof value});
}

constexpr std::uint32_t kLoopback = 0x0100007f;  // 127.0.0.1 as it lies in memory of these processors
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

// Listens on a free port of loopback; `at` gets the address.
long open_listener(struct sockaddr_in& at) {
  const long fd = sys(__NR_socket, long{AF_INET}, long{SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}, 0L);
  if (fd < 0) return fd;
  bound_buffers(fd);  // what is accepted inherits them
  at = {};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = kLoopback;
  unsigned size = sizeof at;
  long done = sys(__NR_bind, fd, &at, long{sizeof at});
  if (done >= 0) done = sys(__NR_listen, fd, 1L);
  if (done >= 0) done = sys(__NR_getsockname, fd, &at, &size);
  if (done >= 0) return fd;
  sys(__NR_close, fd);
  return done;
}

// 0, or kInProgress for a non-blocking socket. Never waits longer than kPatienceSeconds.
long connect_within(int socket, bool is_ipv6, const struct sockaddr_in& to) {
  struct sockaddr_in6 mapped = {};
  mapped.sin6_family = AF_INET6;
  mapped.sin6_port = to.sin_port;
  auto* bytes = reinterpret_cast<unsigned char*>(&mapped.sin6_addr);
  bytes[10] = bytes[11] = 0xff;
  for (int i = 0; i < 4; ++i) bytes[12 + i] = reinterpret_cast<const unsigned char*>(&to.sin_addr)[i];
  if (is_ipv6) set_number(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  long tools[2] = {};
  unsigned size = sizeof tools;
  sys(__NR_getsockopt, long{socket}, long{SOL_SOCKET}, long{SO_SNDTIMEO}, &tools[0], &size);
  const long ours[2] = {kPatienceSeconds, 0};
  const long set = sys(__NR_setsockopt, long{socket}, long{SOL_SOCKET}, long{SO_SNDTIMEO}, &ours[0], long{sizeof ours});
  if (set < 0) return set;
  const long done = is_ipv6 ? sys(__NR_connect, long{socket}, &mapped, long{sizeof mapped})
                            : sys(__NR_connect, long{socket}, &to, long{sizeof to});
  sys(__NR_setsockopt, long{socket}, long{SOL_SOCKET}, long{SO_SNDTIMEO}, &tools[0], long{sizeof tools});
  return done;
}

// Accepts the connection that comes from `socket`, and closes those of other processes that found the port.
long accept_from(long listener, int socket) {
  struct sockaddr_in6 own = {};
  unsigned size = sizeof own;
  if (sys(__NR_getsockname, long{socket}, &own, &size) < 0) return kRefused;
  for (int strangers = 0; strangers < kMostStrangers; ++strangers) {
    struct pollfd watched = {static_cast<int>(listener), POLLIN, 0};
    struct __kernel_timespec patience = {kPatienceSeconds, 0};
    if (sys(__NR_ppoll, &watched, 1L, &patience, 0L, 0L) <= 0) return kRefused;
    struct sockaddr_in peer = {};
    size = sizeof peer;
    const long fd = sys(__NR_accept4, listener, &peer, &size, long{SOCK_CLOEXEC | SOCK_NONBLOCK});
    if (fd < 0) return kRefused;
    if (peer.sin_addr.s_addr == kLoopback && peer.sin_port == own.sin6_port)
      return fd;  // the port is at the same offset
    sys(__NR_close, fd);
  }
  return kRefused;
}

}  // namespace

void bound_buffers(long fd) {
  set_number(fd, SOL_SOCKET, SO_SNDBUF, kBufferSize);
  set_number(fd, SOL_SOCKET, SO_RCVBUF, kBufferSize);
}

long connect_to_own_end(int socket, bool is_ipv6, long& connected) {
  struct sockaddr_in at;
  const long listener = open_listener(at);
  if (listener < 0) return kRefused;
  connected = connect_within(socket, is_ipv6, at);
  const bool fine = connected >= 0 || connected == kInProgress;
  const long ours = fine ? accept_from(listener, socket) : kRefused;
  sys(__NR_close, listener);
  return ours;
}

long make_loopback_pair(int& one, int& other) {
  const long fd = sys(__NR_socket, long{AF_INET}, long{SOCK_STREAM | SOCK_CLOEXEC}, 0L);
  if (fd < 0) return fd;
  bound_buffers(fd);
  long connected = kRefused;
  const long end = connect_to_own_end(static_cast<int>(fd), false, connected);
  if (end < 0) {
    sys(__NR_close, fd);
    return end;
  }
  one = static_cast<int>(fd);
  other = static_cast<int>(end);
  return 0;
}

}  // namespace sallyport::spawn::helper
