// Reaching a daemon by its socket in a directory that a jail shows.
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

constexpr std::string_view kMessage = "hello";

sockaddr_un address_of(std::string_view name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (arg("repo") + "/" + std::string(name)).copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

bool reach(int fd, std::string_view name) {
  const sockaddr_un address = address_of(name);
  return connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void send_to(int fd, std::string_view name) {
  const sockaddr_un address = address_of(name);
  sendto(fd, kMessage.data(), kMessage.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
         sizeof address);
}

int datagram_pair() {
  int pair[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  return pair[0];
}

// With a descriptor of ours in the message: the listener gets access that no mount restricts.
void send_descriptor(int fd) {
  const int gift = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  char text[] = "hello";
  iovec part = {text, sizeof text};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof gift)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof gift);
  memcpy(CMSG_DATA(header), &gift, sizeof gift);
  sendmsg(fd, &message, MSG_NOSIGNAL);
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"socket_stream", [] { reach(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "stream.sock"); }},
    Entry{"socket_datagram", [] { send_to(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "datagram.sock"); }},
    Entry{"socket_seqpacket", [] { reach(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "seqpacket.sock"); }},
    Entry{"socket_pair_datagram", [] { send_to(datagram_pair(), "datagram.sock"); }},
    Entry{"socket_pair_connected",
          [] {
            const int fd = datagram_pair();
            if (reach(fd, "datagram.sock")) send(fd, kMessage.data(), kMessage.size(), MSG_NOSIGNAL);
          }},
    Entry{"socket_descriptor",
          [] {
            const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (reach(fd, "stream.sock")) send_descriptor(fd);
          }},
});

}  // namespace

std::span<const Entry> socket_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
