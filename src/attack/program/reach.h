// How the attacks on the network connect. In a jail with egress a lookup gives the address to use; where nobody answers
// lookups (the positive control) the listener's real address is taken.
#pragma once

#include <netinet/in.h>

#include <optional>
#include <string>
#include <string_view>

namespace sallyport::attacks {

sockaddr_in loopback(int port);
void say(int fd, std::string_view text);

// A connection, or -1.
int connect_to(const sockaddr_in& address);
// The address our own resolver gives; nothing when there is no resolver or it refuses.
std::optional<in_addr> look_up(std::string_view name);
// By that address and `port`; where the name cannot be looked up, to `otherwise` on the host's loopback.
int connect_by_name(std::string_view name, int port, int otherwise);

// Something came back, the other end hung up, or it was refused: within `milliseconds`.
bool answered(int fd, int milliseconds);

}  // namespace sallyport::attacks
