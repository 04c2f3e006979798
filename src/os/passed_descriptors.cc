#include "os/passed_descriptors.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace sallyport {

namespace {

std::vector<UniqueFd> descriptors_in(const cmsghdr& header) {
  std::vector<UniqueFd> descriptors;
  const std::size_t count = (header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  descriptors.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(&header) + i * sizeof fd, sizeof fd);
    descriptors.emplace_back(fd);
  }
  return descriptors;
}

UserIds sender_in(const cmsghdr& header) {
  ucred sender{};
  std::memcpy(&sender, CMSG_DATA(&header), sizeof sender);
  return {.uid = sender.uid, .gid = sender.gid};
}

}  // namespace

ReceivedMessage receive_with_descriptors(int socket, std::span<std::byte> bytes, std::size_t most, int flags) {
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int) * kMostPassedDescriptors)>
      passed{};
  most = std::min(most, kMostPassedDescriptors);
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = passed.data();
  message.msg_controllen = CMSG_SPACE(sizeof(ucred)) + CMSG_LEN(sizeof(int) * most);
  ReceivedMessage received{.size = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC)};
  if (received.size < 0) return received;
  for (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(header))) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_RIGHTS) received.descriptors = descriptors_in(*header);
    if (header->cmsg_type == SCM_CREDENTIALS) received.sender = sender_in(*header);
  }
  // Where no sender is shown, its place had room for more of them.
  while (received.descriptors.size() > most) received.descriptors.pop_back();
  return received;
}

}  // namespace sallyport
