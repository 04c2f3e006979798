#include "spawn/helper/carry_init.h"

#include <linux/in.h>
#include <linux/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "spawn/freestanding/poll.h"

namespace sallyport::spawn::helper {
namespace {

using wire::FrameKind;

constexpr std::uint32_t kLocalhost = 0x7f000001;
constexpr std::uint16_t kDnsPort = 53;
constexpr long kBacklog = 1024;
constexpr int kAcceptAtOnce = 16;

std::uint16_t swapped(std::uint16_t port) { return static_cast<std::uint16_t>((port >> 8U) | (port << 8U)); }
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

struct sockaddr_in address_at(std::uint32_t address, std::uint16_t port) {
  struct sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_port = swapped(port);
  at.sin_addr.s_addr = __builtin_bswap32(address);
  return at;
}

long bind_at(long type, std::uint32_t address, std::uint16_t port) {
  const long fd = sys(__NR_socket, long{AF_INET}, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0L);
  if (fd < 0) return fd;
  const struct sockaddr_in at = address_at(address, port);
  const long bound = sys(__NR_bind, fd, &at, long{sizeof at});
  if (bound >= 0) return fd;
  sys(__NR_close, fd);
  return bound;
}

}  // namespace

long CarryInit::listen_at(std::uint32_t address, std::uint16_t port) {
  const long fd = bind_at(SOCK_STREAM, address, port);
  if (fd < 0) return fd;
  if (const long listening = sys(__NR_listen, fd, kBacklog); listening < 0) return listening;
  struct epoll_event wanted = {EPOLLIN, {.fd = static_cast<int>(fd)}};
  return sys(__NR_epoll_ctl, long{listeners_}, long{EPOLL_CTL_ADD}, fd, &wanted);
}

long CarryInit::open(const Run& run, int to_worker) {
  const wire::Image& image = *run.image;
  if (image.carried_count == 0) return 0;
  if (std::uint64_t{image.carried_count} * image.net_socket_count > wire::kMostCarryingSockets) return -7;  // E2BIG
  out_.open(to_worker, FrameOutbox::Writes::kAtOnce);
  const long epoll = sys(__NR_epoll_create1, long{EPOLL_CLOEXEC});
  if (epoll < 0) return epoll;
  listeners_ = static_cast<int>(epoll);
  const auto* sockets = reinterpret_cast<const wire::NetSocket*>(run.at(image.net_sockets_at));
  for (std::uint32_t i = 0; i < image.carried_count * image.net_socket_count; ++i) {
    const wire::NetSocket& one = sockets[i % image.net_socket_count];
    const long done = listen_at(image.carried_from + i / image.net_socket_count, static_cast<std::uint16_t>(one.port));
    if (done < 0) return done;
  }
  const long questions = bind_at(SOCK_DGRAM, kLocalhost, kDnsPort);
  if (questions < 0) return questions;
  questions_ = static_cast<int>(questions);
  return listen_at(kLocalhost, kDnsPort);
}

bool CarryInit::take(FrameKind kind, const char* bytes, std::size_t size) {
  return is_open() && carried_.take(kind, bytes, size);
}

void CarryInit::watch(struct pollfd* entries) const {
  for (std::uint32_t i = 0; i < kWatched; ++i) entries[i] = {-1, 0, 0};
  if (!is_open()) return;
  const bool has_room = carried_.free_id() != Carried::kNone;
  entries[0] = {has_room ? listeners_ : -1, POLLIN, 0};
  entries[1] = {has_room && asking_ < kMostAskers ? questions_ : -1, POLLIN, 0};
  carried_.watch(entries + 2, out_);
}

// The address that the tool wanted is the local address of our end.
bool CarryInit::accept_one(int listener) {
  const std::uint32_t id = carried_.free_id();
  if (id == Carried::kNone) return false;
  const long fd = sys(__NR_accept4, long{listener}, 0L, 0L, long{SOCK_CLOEXEC | SOCK_NONBLOCK});
  if (fd < 0) return false;
  struct sockaddr_in wanted = {};
  unsigned size = sizeof wanted;
  if (sys(__NR_getsockname, fd, &wanted, &size) < 0) {
    sys(__NR_close, fd);
    return true;
  }
  const int at_once = 1;
  sys(__NR_setsockopt, fd, long{IPPROTO_TCP}, long{TCP_NODELAY}, &at_once, long{sizeof at_once});
  wire::CarriedOpen open = {};
  open.id = id;
  open.wanted.port = swapped(wanted.sin_port);
  copy_bytes(reinterpret_cast<char*>(open.wanted.address), reinterpret_cast<const char*>(&wanted.sin_addr), 4);
  carried_.open(id, static_cast<int>(fd));
  out_.put(FrameKind::kOpen, &open, sizeof open);
  return true;
}

void CarryInit::accept_all() {
  struct epoll_event ready[kAcceptAtOnce];
  const long count = epoll_until(listeners_, ready, kAcceptAtOnce, 0);
  for (long i = 0; i < count; ++i) accept_one(ready[i].data.fd);
}

// A datagram becomes a connection of its own, with the question behind its length (RFC 1035, 4.2.2).
void CarryInit::take_question() {
  char question[2 + wire::kLargestCarriedQuery + 1];
  struct sockaddr_in from = {};
  unsigned size = sizeof from;
  const std::uint32_t id = carried_.free_id();
  if (id == Carried::kNone) return;
  const long got =
      sys(__NR_recvfrom, long{questions_}, question + 2, long{sizeof question - 2}, long{MSG_DONTWAIT}, &from, &size);
  if (got <= 0 || got > static_cast<long>(wire::kLargestCarriedQuery)) return;
  question[0] = static_cast<char>(got >> 8);
  question[1] = static_cast<char>(got);
  const std::uint32_t whole = static_cast<std::uint32_t>(got) + 2;
  carried_.open_kept(id, whole);
  askers_[id] = {true, __builtin_bswap32(from.sin_addr.s_addr), swapped(from.sin_port)};
  ++asking_;
  wire::CarriedOpen open = {};
  open.id = id;
  open.wanted.port = kDnsPort;
  open.wanted.address[0] = 127;
  open.wanted.address[3] = 1;
  out_.put(FrameKind::kOpen, &open, sizeof open);
  char* const at = out_.begin(sizeof id + whole);
  copy_bytes(at, reinterpret_cast<const char*>(&id), sizeof id);
  copy_bytes(at + sizeof id, question, whole);
  out_.end(FrameKind::kData, sizeof id + whole);
}

void CarryInit::answer() {
  for (std::uint32_t id = 0; asking_ > 0 && id < wire::kMostCarried; ++id) {
    if (!askers_[id].waits) continue;
    std::size_t size = 0;
    if (const char* const all = carried_.kept(id, size); all != nullptr) {
      const std::size_t said = size < 2 ? 0
                                        : (static_cast<std::size_t>(static_cast<unsigned char>(all[0])) << 8U) |
                                              static_cast<unsigned char>(all[1]);
      const struct sockaddr_in to = address_at(askers_[id].address, askers_[id].port);
      // A lost answer is like any lost datagram: the client asks again.
      if (size > 2 && said == size - 2) {
        sys(__NR_sendto, long{questions_}, all + 2, static_cast<long>(said), long{MSG_DONTWAIT | MSG_NOSIGNAL}, &to,
            long{sizeof to});
      }
      carried_.done(id);
    } else if (!carried_.is_free(id)) {
      continue;
    }
    askers_[id].waits = false;
    --asking_;
  }
}

void CarryInit::serve(const struct pollfd* entries) {
  if (!is_open()) return;
  if (entries[0].revents != 0) accept_all();
  if (entries[1].revents != 0) take_question();
  answer();
  carried_.serve(entries + 2, out_);
  answer();  // before another connection gets the number of one that was reset
  if (out_.is_broken()) exit_now(1);
}

void CarryInit::last_round() {
  if (!is_open()) return;
  accept_all();
  carried_.last_round(out_);
}

}  // namespace sallyport::spawn::helper
