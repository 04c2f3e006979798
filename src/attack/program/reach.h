// How the attacks on the network connect. In a jail with egress a lookup gives the address to use; where lookups get no
// answer (the positive control) it uses the listener's real address.
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

// True when, within `milliseconds`, an answer came, the other end closed, or the connection was refused.
bool answered(int fd, int milliseconds);

}  // namespace sallyport::attacks
