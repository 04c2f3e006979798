// The filter for runs that require net.unix_isolated (ADR 0022): the program of table.h with one more rule in front.
#pragma once

#include <string>
#include <string_view>

namespace sallyport::seccomp {

// No Unix socket can be made that could be sent somewhere by a path: socket(AF_UNIX) is refused, and so is a socket pair of
// datagrams, either end of which can be connected or sent elsewhere. Pairs of streams and of sequenced packets stay: they
// are connected for good (EISCONN), and processes of a run talk to each other by them.
[[nodiscard]] std::string without_unix_sockets(std::string_view program);

}  // namespace sallyport::seccomp
