#include "egress/refusal_watch.h"

#include <linux/netlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "os/netlink.h"
#include "os/pipe.h"

namespace sallyport {
namespace {

// After so many the other sockets get their turn.
constexpr int kShownAtOnce = 64;
// A socket's buffer holds fewer messages than this.
constexpr int kMostLeft = 100'000;

}  // namespace

Status RefusalWatch::serve_on(UniqueFd netlink) {
  TRY(set_nonblocking(netlink.get()));
  watch_ = TRY(run_.loop->watch(netlink.get(), EPOLLIN, *this));
  netlink_ = std::move(netlink);
  return {};
}

void RefusalWatch::ready(int /*fd*/, std::uint32_t /*events*/) {
  for (int i = 0; i < kShownAtOnce && read_one(); ++i) {
  }
}

bool RefusalWatch::read_one() {
  sockaddr_nl from{};
  socklen_t size = sizeof from;
  const ssize_t got =
      ::recvfrom(netlink_.get(), run_.buffer.data(), run_.buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
  if (got < 0 && errno == ENOBUFS) {
    // There were more than the socket could hold; the kernel has still refused those connections.
    run_.denials.add("", 0, DenialReason::kMoreDenials);
    return true;
  }
  if (got < 0) return errno == EINTR;
  if (from.nl_pid != 0) return true;  // not the kernel
  for (const RefusedPacket& packet : parse_refusals(std::span(run_.buffer).first(static_cast<std::size_t>(got)))) {
    const std::optional<std::string_view> name = run_.book.name_of(packet.address);
    const DenialReason of_tcp = name ? DenialReason::kPortNotAllowed : DenialReason::kAddressWithoutName;
    run_.denials.add(name ? std::string(*name) : ip_address_text(packet.address), packet.port,
                     packet.udp ? DenialReason::kNotTcp : of_tcp);
  }
  return true;
}

void RefusalWatch::close_all() {
  if (!netlink_) return;
  for (int i = 0; i < kMostLeft && read_one(); ++i) {
  }
  watch_.reset();
  netlink_.reset();
}

}  // namespace sallyport
