#include "os/passed_descriptors.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace sallyport {

ReceivedMessage receive_with_descriptors(int socket, std::span<std::byte> bytes, std::size_t most, int flags) {
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostPassedDescriptors)> passed{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = passed.data();
  // Not CMSG_SPACE: in its padding the kernel finds room for one more.
  message.msg_controllen = CMSG_LEN(sizeof(int) * std::min(most, kMostPassedDescriptors));
  ReceivedMessage received{.size = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC)};
  if (received.size < 0) return received;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return received;
  const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  received.descriptors.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
    received.descriptors.emplace_back(fd);
  }
  return received;
}

}  // namespace sallyport
