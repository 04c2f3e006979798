#include "spawn/helper/carry_worker.h"

#include <linux/in.h>
#include <linux/tcp.h>
#include <sys/socket.h>

#include "spawn/helper/loopback_pair.h"

namespace sallyport::spawn::helper {
namespace {

using wire::FrameKind;
using wire::kMostCarried;

constexpr std::uint16_t kDnsPort = 53;

Carried carried;  // a worker has one run
std::uint32_t numbers[kMostCarried];

// Sends at once: we write all that there is, so the kernel need not wait for more (TCP_NODELAY).
void send_at_once(int fd) {
  const int on = 1;
  sys(__NR_setsockopt, long{fd}, long{IPPROTO_TCP}, long{TCP_NODELAY}, &on, long{sizeof on});
}

// DNS questions are many and short, and neither end needs to see a reset: use a pair that leaves no port in TIME_WAIT.
long make_pair_for(const wire::Handed& wanted, int& ours, int& owners) {
  if (wanted.port != kDnsPort) {
    const long made = make_loopback_pair(ours, owners);
    if (made >= 0) send_at_once(ours);
    return made;
  }
  int ends[2] = {-1, -1};
  const long made = sys(__NR_socketpair, long{AF_UNIX}, long{SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}, 0L, &ends[0]);
  ours = ends[0];
  owners = ends[1];
  return made;
}

}  // namespace

bool CarryWorker::take(FrameKind kind, const char* bytes, std::size_t size) {
  return kind == FrameKind::kOpen ? open(bytes, size) : carried.take(kind, bytes, size);
}

// If the pair cannot be made, the tool gets a reset.
bool CarryWorker::open(const char* bytes, std::size_t size) {
  wire::CarriedOpen asked = {};
  if (size != sizeof asked) return false;
  copy_bytes(reinterpret_cast<char*>(&asked), bytes, sizeof asked);
  if (!carried.is_free(asked.id) || asked.wanted.is_ipv6 != 0) return false;
  int ours = -1;
  int owners = -1;
  if (!owner_answers_ || make_pair_for(asked.wanted, ours, owners) < 0) {
    carried.open(asked.id, -1);
    return true;
  }
  carried.open(asked.id, ours);
  asked.wanted.number = numbers[asked.id] = ++last_number_;
  if (send_with_fds(run_.handed_fd, &asked.wanted, sizeof asked.wanted, &owners, 1) < 0) carried.reset(asked.id);
  sys(__NR_close, long{owners});
  return true;
}

// A connection that the owner lets in needs no action: its bytes wait in the pair until the owner reads them.
void CarryWorker::take_answers() {
  for (;;) {
    wire::HandedAnswer answer = {};
    const long size =
        sys(__NR_recvfrom, long{run_.handed_fd}, &answer, long{sizeof answer}, long{MSG_DONTWAIT}, 0L, 0L);
    if (size == -4) continue;  // EINTR
    if (size == -11) return;   // EAGAIN
    if (size != static_cast<long>(sizeof answer)) {
      owner_answers_ = false;  // the owner lets no connection in any more
      return;
    }
    for (std::uint32_t id = 0; answer.is_let_in == 0 && id < kMostCarried; ++id) {
      if (numbers[id] == answer.number && !carried.is_free(id)) carried.reset(id);
    }
  }
}

void CarryWorker::watch(struct pollfd* entries, const FrameOutbox& out) const {
  entries[0] = {owner_answers_ ? run_.handed_fd : -1, POLLIN, 0};
  carried.watch(entries + 1, out);
}

void CarryWorker::serve(const struct pollfd* entries, FrameOutbox& out) {
  if (entries[0].revents != 0) take_answers();
  carried.serve(entries + 1, out);
}

void CarryWorker::last_round(FrameOutbox& out) { carried.last_round(out); }

}  // namespace sallyport::spawn::helper
