// The filter for runs that require net.unix_isolated (ADR 0022): the program of table.h with one more rule before it.
#pragma once

#include <string>
#include <string_view>

namespace sallyport::seccomp {

// Forbids every Unix socket that could reach another by a path: it refuses socket(AF_UNIX), and datagram socket pairs,
// since either end can connect or send elsewhere. It allows pairs of streams and of sequenced packets: they stay
// connected to each other (EISCONN), and processes of a run use them among themselves.
[[nodiscard]] std::string without_unix_sockets(std::string_view program);

}  // namespace sallyport::seccomp
