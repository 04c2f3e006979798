#include "egress/dns_sockets.h"

#include <ares.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>

namespace sallyport {
namespace {

ares_socket_t open_socket(int family, int type, int protocol, void* /*data*/) {
  return ::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
}
int close_socket(ares_socket_t fd, void* /*data*/) { return ::close(fd); }
int connect_socket(ares_socket_t fd, const sockaddr* address, ares_socklen_t length, void* /*data*/) {
  return ::connect(fd, address, length);
}
ares_ssize_t receive(ares_socket_t fd, void* buffer, std::size_t size, int flags, sockaddr* from,
                     ares_socklen_t* length, void* /*data*/) {
  return ::recvfrom(fd, buffer, size, flags, from, length);
}
ares_ssize_t send_vector(ares_socket_t fd, const iovec* vector, int count, void* /*data*/) {
  return ::writev(fd, vector, count);  // SIGPIPE is blocked on our thread
}

constexpr ares_socket_functions kFunctions{.asocket = open_socket,
                                           .aclose = close_socket,
                                           .aconnect = connect_socket,
                                           .arecvfrom = receive,
                                           .asendv = send_vector};

}  // namespace

void use_cloexec_sockets(ares_channeldata* channel) { ::ares_set_socket_functions(channel, &kFunctions, nullptr); }

}  // namespace sallyport
