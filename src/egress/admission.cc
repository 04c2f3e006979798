#include "egress/admission.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "egress/registry_connection.h"
#include "egress/socket_errors.h"
#include "os/pipe.h"

namespace sallyport {
namespace {

// After so many the other sockets get their turn.
constexpr int kAcceptAtOnce = 64;

// The tool is on this machine. A larger buffer would only cost memory, and bytes would leave the processor's cache
// before the tool reads them. Accepted sockets inherit it.
constexpr int kSocketBuffer = 256 * 1024;

void prepare_for_short_way(int listener) {
  bound_buffers(listener, kSocketBuffer);
  do_not_pace(listener);
}

// True when the connection is gone but the listener works; see accept(2), "Error handling".
bool concerns_connection_only(int error) {
  switch (error) {
    case EBADF:
    case EFAULT:
    case EINVAL:
    case ENOTSOCK:
    case EOPNOTSUPP:
      return false;
    default:
      return true;
  }
}

}  // namespace

Status Admission::listen_on(UniqueFd listener, Kind kind) {
  TRY(set_nonblocking(listener.get()));
  prepare_for_short_way(listener.get());
  Watch watch = TRY(run_.loop->watch(listener.get(), EPOLLIN, *this));
  listeners_.push_back({.fd = std::move(listener), .watch = std::move(watch), .kind = kind});
  return {};
}

void Admission::ready(int fd, std::uint32_t /*events*/) {
  const auto found = std::ranges::find_if(listeners_, [fd](const Listener& l) { return l.fd.get() == fd; });
  if (found != listeners_.end() && !paused_) accept_from(*found);
}

void Admission::accept_from(Listener& listener) {
  for (int i = 0; i < kAcceptAtOnce; ++i) {
    if (!has_room(listener.fd.get())) return pause();
    UniqueFd client(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (client) {
      const int fd = client.get();
      admit(std::move(client), listener.kind == Kind::kRedirected ? original_destination(fd) : local_endpoint(fd));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (out_of_descriptors(errno)) {
      return pause();
    } else if (!concerns_connection_only(errno)) {
      return listener.watch.reset();
    }
  }
}

bool Admission::has_room(int any) {
  if (connections_.size() >= limit_) return false;
  if (!reserve_) reserve_ = UniqueFd(::fcntl(any, F_DUPFD_CLOEXEC, 0));
  return static_cast<bool>(reserve_);
}

bool Admission::take(UniqueFd client, const Endpoint& wanted) {
  prepare_for_short_way(client.get());
  return admit(std::move(client), wanted);
}

bool Admission::admit(UniqueFd client, const std::optional<Endpoint>& wanted) {
  if (!wanted) {
    close_with_reset(std::move(client));
    return false;
  }
  const std::optional<std::string_view> name = run_.book.name_of(wanted->address);
  if (!name) {
    return deny(std::move(client), ip_address_text(wanted->address), wanted->port, DenialReason::kAddressWithoutName);
  }
  const std::optional<RuleMatch> match = run_.rules.find(*name, wanted->port);
  if (!match) return deny(std::move(client), *name, wanted->port, DenialReason::kPortNotAllowed);
  return let_in(std::move(client), {.name = std::string(*name), .port = wanted->port, .check = match->check},
                match->rule);
}

bool Admission::deny(UniqueFd client, std::string_view host, std::uint16_t port, DenialReason reason) {
  run_.denials.add(host, port, reason);
  close_with_reset(std::move(client));
  return false;
}

bool Admission::let_in(UniqueFd client, ClientStream::Place place, std::size_t rule) {
  const auto it = connections_.emplace(connections_.end());
  const auto gone = [this, it] {
    run_.loop->later([this, it] {
      connections_.erase(it);
      resume();
    });
  };
  if (run_.registry && place.name == run_.registry->name && place.port == run_.registry->port) {
    *it = std::make_unique<RegistryConnection>(run_, std::move(client), std::move(reserve_), rule, gone);
  } else {
    *it = std::make_unique<Connection>(run_, std::move(client), std::move(reserve_), std::move(place), rule, gone);
  }
  (*it)->start();
  return true;
}

void Admission::pause() {
  if (!paused_) {
    paused_ = true;
    for (const Listener& listener : listeners_) listener.watch.change(0);
  }
  // At the limit we wait until a connection ends; a shortage of descriptors may end without that, so try again later.
  if (connections_.size() < limit_) retry_ = run_.loop->after(kDescriptorRetry, [this] { resume(); });
}

void Admission::resume() {
  if (!paused_) return;
  paused_ = false;
  retry_.reset();
  for (const Listener& listener : listeners_) listener.watch.change(EPOLLIN);
}

void Admission::close_all() {
  for (const std::unique_ptr<Guest>& connection : connections_) connection->last_round();
  connections_.clear();
  listeners_.clear();
  reserve_.reset();
}

}  // namespace sallyport
