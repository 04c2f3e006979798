#include "egress/handed.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "egress/socket_errors.h"
#include "os/passed_descriptors.h"
#include "spawn/wire/handed.h"

namespace sallyport {
namespace {

constexpr std::uint16_t kDnsPort = 53;
constexpr int kTakeAtOnce = 64;

IpAddress address_of(const spawn::wire::Handed& handed) {
  sockaddr_in6 six{};
  sockaddr_in four{};
  six.sin6_family = AF_INET6;
  std::memcpy(&six.sin6_addr, handed.address, sizeof six.sin6_addr);
  four.sin_family = AF_INET;
  std::memcpy(&four.sin_addr, handed.address, sizeof four.sin_addr);
  const auto* address =
      handed.is_ipv6 != 0 ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
  return endpoint_of(address).value_or(Endpoint{}).address;
}

}  // namespace

Status HandedConnections::serve_on(UniqueFd socket) {
  watch_ = TRY(run_.loop->watch(socket.get(), EPOLLIN, *this));
  socket_ = std::move(socket);
  return {};
}

void HandedConnections::ready(int /*fd*/, std::uint32_t /*events*/) {
  for (int i = 0; i < kTakeAtOnce && socket_; ++i) {
    if (!take_one()) return;
  }
}

bool HandedConnections::serve(const spawn::wire::Handed& handed, UniqueFd client) {
  if (!client) return false;  // no descriptor was free, so the kernel dropped it
  if (handed.port != kDnsPort) {
    return admission_.take(std::move(client), {.address = address_of(handed), .port = handed.port});
  }
  dns_.take(std::move(client));
  return true;
}

bool HandedConnections::take_one() {
  // Connections that we do not take wait in the socket; when that is full, the worker refuses.
  if (!admission_.has_room(socket_.get()) || !dns_.has_room()) {
    pause();
    return false;
  }
  spawn::wire::Handed handed{};
  ReceivedMessage received =
      receive_with_descriptors(socket_.get(), std::as_writable_bytes(std::span(&handed, 1)), 1, MSG_DONTWAIT);
  if (received.size < 0 && errno == EINTR) return true;
  if (received.size < 0 && would_block(errno)) return false;
  UniqueFd client = received.descriptors.empty() ? UniqueFd() : std::move(received.descriptors.front());
  if (received.size != sizeof handed) {  // the worker is gone, so no connection can follow
    watch_.reset();
    return false;
  }
  const bool is_let_in = serve(handed, std::move(client));
  const spawn::wire::HandedAnswer answer{.number = handed.number, .is_let_in = is_let_in ? 1U : 0U};
  // The socket has room: each of the tool's calls waits for its own answer, and few can wait. If the worker is gone, it
  // needs no answer.
  static_cast<void>(::send(socket_.get(), &answer, sizeof answer, MSG_DONTWAIT | MSG_NOSIGNAL));
  return true;
}

void HandedConnections::pause() {
  watch_.change(0);
  retry_ = run_.loop->after(kDescriptorRetry, [this] {
    retry_.reset();
    watch_.change(EPOLLIN);
  });
}

void HandedConnections::close_all() {
  ready(socket_.get(), EPOLLIN);
  retry_.reset();
  watch_.reset();
  socket_.reset();
}

}  // namespace sallyport
