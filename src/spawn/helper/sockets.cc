// TCP for a confined tool whose run allows hosts. The tool shares the host's network, so it must get no socket that it
// could connect itself: we make each socket, keep a copy until it is connected, and connect it over loopback to an end
// of our own. That end goes to the owner's egress together with the address that the tool wanted. We read the address
// once, and the tool's own call never runs.
#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ioctl.h>
#include <linux/tcp.h>
#include <sys/socket.h>

#include "spawn/freestanding/decimal.h"
#include "spawn/helper/loopback_pair.h"
#include "spawn/helper/questions.h"
#include "spawn/wire/handed.h"

namespace sallyport::spawn::helper {
namespace {

constexpr long kInterrupted = -4;    // EINTR
constexpr long kNotASocket = -88;    // ENOTSOCK
constexpr long kOtherFamily = -97;   // EAFNOSUPPORT
constexpr long kIsConnected = -106;  // EISCONN

// A socket that the tool holds and has not connected. When the table is full, the oldest one can no longer be
// connected.
struct Made {
  int fd;
  std::uint32_t inode;
  bool is_ipv6;
};
constexpr std::uint32_t kMostMade = 256;
Made made[kMostMade];  // a worker has one run
std::uint32_t made_count;

// A connect(2) call that waits for the owner's answer.
struct Waiting {
  std::uint64_t id;
  std::uint32_t number;
  int fd;          // the tool's socket
  long connected;  // the tool's result when the owner lets it in
};
constexpr std::uint32_t kMostWaiting = 64;
Waiting waiting[kMostWaiting];
std::uint32_t waiting_count;
std::uint32_t last_number;

// Does not close it.
void forget(std::uint32_t index) {
  --made_count;
  for (; index < made_count; ++index) made[index] = made[index + 1];
}

// Reads the number from the kernel's name for the file: "socket:[NUMBER]". 0 or a negative errno.
long read_inode(const Run& run, const char* name, std::uint32_t& inode) {
  constexpr const char* kPrefix = "socket:[";
  char text[32];
  const long size = sys(__NR_readlinkat, long{run.proc_fd}, name, text, long{sizeof text - 1});
  if (size < 0) return kBadDescriptor;
  text[size] = '\0';
  const char* at = text;
  for (const char* wanted = kPrefix; *wanted != '\0'; ++wanted, ++at) {
    if (*at != *wanted) return kNotASocket;
  }
  return read_number(at, inode) && *at == ']' ? 0 : kNotASocket;
}

char* write_name(char* out, const char* fds, int fd) {
  char* const end = append_number(append_text(out, fds), static_cast<std::uint32_t>(fd));
  *end = '\0';
  return end;
}

// Reads the address that the tool wants to connect to.
long read_wanted(const Run& run, const struct seccomp_notif& about, wire::Handed& wanted) {
  union {
    sa_family_t family;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    char bytes[sizeof(struct sockaddr_in6)];
  } address = {};
  for (char& byte : address.bytes) byte = 0;
  const int size = as_int(about.data.args[2]);
  if (size < static_cast<int>(sizeof address.four)) return kInvalid;
  const auto use = static_cast<std::size_t>(size) < sizeof address ? static_cast<std::size_t>(size) : sizeof address;
  const long memory = open_of_tool(run, about.pid, "mem", -1, O_RDONLY);
  if (memory < 0) return kNotPermitted;
  const long copied = copy_all_in(memory, about.data.args[1], address.bytes, use);
  sys(__NR_close, memory);
  if (copied < 0) return copied;
  wanted = {};
  const unsigned char* from = nullptr;
  if (address.family == AF_INET) {
    from = reinterpret_cast<const unsigned char*>(&address.four.sin_addr);
  } else if (address.family == AF_INET6 && use == sizeof address.six) {
    from = reinterpret_cast<const unsigned char*>(&address.six.sin6_addr);
    wanted.is_ipv6 = 1;
  } else {
    return address.family == AF_INET6 ? kInvalid : kOtherFamily;
  }
  for (int i = 0; i < (wanted.is_ipv6 != 0 ? 16 : 4); ++i) wanted.address[i] = from[i];
  const auto* port = reinterpret_cast<const unsigned char*>(&address.four.sin_port);  // the same place in both
  wanted.port = static_cast<std::uint16_t>((port[0] << 8U) | port[1]);
  return 0;
}

// Stops the socket from connecting later to a port that is no longer ours.
void take_back(int fd) {
  struct sockaddr nowhere = {};
  nowhere.sa_family = AF_UNSPEC;
  sys(__NR_connect, long{fd}, &nowhere, long{sizeof nowhere});
}

void finish(int listener, const Waiting& call, bool let_in) {
  if (!let_in) take_back(call.fd);
  sys(__NR_close, long{call.fd});
  struct seccomp_notif_resp answer = {};
  answer.id = call.id;
  answer.error = static_cast<int>(let_in ? call.connected : kRefused);
  sys(__NR_ioctl, long{listener}, static_cast<long>(SECCOMP_IOCTL_NOTIF_SEND), &answer);
}

// Returns 0 or kInProgress when the owner has the other end.
long lead_to_owner(const Run& run, const Made& socket, const wire::Handed& wanted) {
  long connected = kRefused;
  const long ours = connect_to_own_end(socket.fd, socket.is_ipv6, connected);
  if (ours < 0) return kRefused;
  const int fd = static_cast<int>(ours);
  const long sent = send_with_fds(run.handed_fd, &wanted, sizeof wanted, &fd, 1);
  sys(__NR_close, ours);
  return sent >= 0 ? connected : kRefused;
}

}  // namespace

long make_socket(const Run& run, int listener, const struct seccomp_notif& about) {
  if (!run.has(wire::kHandsConnections)) return kOtherFamily;
  const auto* given = about.data.args;
  const long type = as_int(given[1]);
  const long fd = sys(__NR_socket, long{as_int(given[0])}, type | SOCK_CLOEXEC, long{as_int(given[2])});
  if (fd < 0) return fd;
  bound_buffers(fd);
  char name[32];
  write_name(name, "self/fd/", static_cast<int>(fd));
  std::uint32_t inode = 0;
  const long known = read_inode(run, name, inode);
  struct seccomp_notif_addfd passed = {};
  passed.id = about.id;
  passed.flags = SECCOMP_ADDFD_FLAG_SEND;
  passed.srcfd = static_cast<std::uint32_t>(fd);
  passed.newfd_flags = (type & SOCK_CLOEXEC) != 0 ? O_CLOEXEC : 0U;
  const long done =
      known < 0 ? known : sys(__NR_ioctl, long{listener}, static_cast<long>(SECCOMP_IOCTL_NOTIF_ADDFD), &passed);
  if (done < 0) {
    sys(__NR_close, fd);
    return done;
  }
  if (made_count == kMostMade) {
    sys(__NR_close, long{made[0].fd});
    forget(0);
  }
  made[made_count++] = {static_cast<int>(fd), inode, as_int(given[0]) == AF_INET6};
  return kAnswered;
}

long connect_socket(const Run& run, int listener, const struct seccomp_notif& about) {
  if (!run.has(wire::kHandsConnections)) return kNotPermitted;
  wire::Handed wanted;
  if (const long read = read_wanted(run, about, wanted); read < 0) return read;
  const int fd = as_int(about.data.args[0]);
  if (fd < 0) return kBadDescriptor;
  char name[48];
  char* const end = append_number(name, about.pid);
  write_name(end, "/fd/", fd);
  std::uint32_t inode = 0;
  if (const long known = read_inode(run, name, inode); known < 0) return known;
  if (!still_asks(listener, about.id)) return kInterrupted;
  for (std::uint32_t i = 0; i < made_count; ++i) {
    if (made[i].inode != inode) continue;
    if (waiting_count == kMostWaiting) return kRefused;
    const Made socket = made[i];
    forget(i);
    wanted.number = ++last_number;
    const long connected = lead_to_owner(run, socket, wanted);
    const Waiting call = {about.id, wanted.number, socket.fd, connected};
    if (connected < 0 && connected != kInProgress) {
      finish(listener, call, false);
    } else {
      waiting[waiting_count++] = call;
    }
    return kAnswered;
  }
  return kIsConnected;
}

bool take_owners_answer(const Run& run, int listener) {
  wire::HandedAnswer answer = {};
  const long size = sys(__NR_recvfrom, long{run.handed_fd}, &answer, long{sizeof answer}, long{MSG_DONTWAIT}, 0L, 0L);
  if (size == -11 || size == kInterrupted) return true;  // EAGAIN
  if (size != static_cast<long>(sizeof answer)) {        // the owner lets no connection in any more
    while (waiting_count > 0) finish(listener, waiting[--waiting_count], false);
    return false;
  }
  for (std::uint32_t i = 0; i < waiting_count; ++i) {
    if (waiting[i].number != answer.number) continue;
    const Waiting call = waiting[i];
    waiting[i] = waiting[--waiting_count];
    finish(listener, call, answer.is_let_in != 0);
    break;
  }
  return true;
}

}  // namespace sallyport::spawn::helper
