// A message and the descriptors that came with it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sallyport/plan.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

inline constexpr std::size_t kMostPassedDescriptors = 253;  // unix(7), SCM_RIGHTS

struct ReceivedMessage {
  ssize_t size = -1;  // as of recvmsg(2): -1 and errno, 0 when the other end is closed
  std::vector<UniqueFd> descriptors{};
  std::optional<UserIds> sender{};  // the kernel's word, in this process's numbers; only of a socket with SO_PASSCRED
};

// Receives one message into `bytes`, with at most `most` descriptors (no more than kMostPassedDescriptors); what is beyond
// that is closed. Each is close-on-exec and closed with the result, whatever the caller thinks of the message.
[[nodiscard]] ReceivedMessage receive_with_descriptors(int socket, std::span<std::byte> bytes, std::size_t most,
                                                       int flags);

}  // namespace sallyport
