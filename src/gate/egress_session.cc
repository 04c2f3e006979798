#include "gate/egress_session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/egress/egress_rules.h"
#include "core/egress/registry_endpoint.h"
#include "core/errors.h"
#include "gate/ca_bundle.h"
#include "os/netlink.h"

namespace sallyport {
namespace {

constexpr std::uint16_t kDnsPort = 53;
// The sockets after the listeners: one for all other ports, one for DNS over UDP, one for DNS over TCP.
constexpr std::size_t kOtherSockets = 3;

// A port that no rule names and that the tool cannot bind itself.
std::uint16_t free_port(const std::vector<std::uint16_t>& taken) {
  std::uint16_t port = 1023;
  while (port == kDnsPort || std::ranges::binary_search(taken, port)) --port;
  return port;
}

// DNS always has its own sockets.
std::vector<std::uint16_t> listening_ports(const Plan& plan) {
  std::vector<std::uint16_t> ports = EgressRules(plan.allowed_hosts).ports();
  std::erase(ports, kDnsPort);
  return ports;
}

Result<UniqueFd> watch_all(const EgressSockets& sockets) {
  UniqueFd all(::epoll_create1(EPOLL_CLOEXEC));
  if (!all) return fail(system_error("watch", "the jail's network", errno));
  const auto add = [&all](const UniqueFd& fd) {
    epoll_event event{.events = EPOLLIN, .data = {}};
    return !fd || ::epoll_ctl(all.get(), EPOLL_CTL_ADD, fd.get(), &event) == 0;
  };
  bool added = add(sockets.refusals);
  for (const auto* group : {&sockets.redirected, &sockets.dns_udp, &sockets.dns_tcp}) {
    for (const UniqueFd& fd : *group) added = added && add(fd);
  }
  if (!added) return fail(system_error("watch", "the jail's network", errno));
  return all;
}

bool is_readable(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) > 0;
}

using Message = spawn::NetworkSpec::Message;
Message sent(NetlinkDatagram datagram, Message how = {}) {
  how.protocol = datagram.protocol;
  how.bytes = std::move(datagram.bytes);
  return how;
}

spawn::NetworkSpec network_listening_at(const std::vector<std::uint16_t>& ports) {
  spawn::NetworkSpec network;
  const std::uint16_t other_ports = free_port(ports);
  for (const std::uint16_t port : ports) network.sockets.push_back({SOCK_STREAM, port});
  network.sockets.push_back({SOCK_STREAM, other_ports});
  network.sockets.push_back({SOCK_DGRAM, kDnsPort});
  network.sockets.push_back({SOCK_STREAM, kDnsPort});
  std::vector<std::uint16_t> answered = ports;
  answered.push_back(kDnsPort);
  using spawn::wire::kPortsRedirected;
  using spawn::wire::kRefusalsShown;
  using spawn::wire::kRefusesAtOnce;
  network.messages = {
      sent(local_route(false)),
      // A kernel without IPv6 needs no route for it.
      sent(local_route(true), {.required = false}),
      sent(show_refusals(), {.required = false, .flag_when_done = kRefusalsShown, .keep = true}),
      sent(refuse_at_once(ports),
           {.required = false, .flag_when_done = kRefusesAtOnce | kPortsRedirected, .only_with = kRefusalsShown}),
      // The fallback, which gives as much of it as this kernel can.
      sent(redirect_other_ports(answered, other_ports),
           {.required = false, .flag_when_done = kPortsRedirected, .not_with = kRefusesAtOnce}),
      sent(prohibit_groups(false), {.not_with = kRefusesAtOnce}),
      sent(prohibit_groups(true), {.required = false, .not_with = kRefusesAtOnce})};
  return network;
}

}  // namespace

spawn::NetworkSpec network_without_hosts() { return network_listening_at({}); }

Result<spawn::NetworkSpec> network_for(const Plan& plan) {
  const std::vector<std::uint16_t> ports = listening_ports(plan);
  if (ports.size() + kOtherSockets > spawn::wire::kMaxNetSockets) {
    return fail(invalid_request("allowed_hosts",
                                fmt::format("{} different ports are more than a run can have", ports.size()),
                                fmt::format("at most {}", spawn::wire::kMaxNetSockets - kOtherSockets)));
  }
  return network_listening_at(ports);
}

Result<spawn::NetworkWatch> EgressSession::start(NetworkOpened network) {
  if (network.connections_handed) {
    if (network.sockets.size() != 1) return fail(system_error("receive", "the run's connections", EPROTO));
    sockets_.handed = std::move(network.sockets.front());
    if (network.loopback_only) addresses_ = AddressRange::kLoopback;
    return serve();
  }
  const std::size_t least = kOtherSockets + (network.refusals_shown ? 1 : 0);
  if (network.sockets.size() < least) return fail(system_error("receive", "the jail's sockets", EPROTO));
  const auto take_last = [&network] {
    UniqueFd last = std::move(network.sockets.back());
    network.sockets.pop_back();
    return last;
  };
  if (network.refusals_shown) sockets_.refusals = take_last();
  sockets_.dns_tcp.push_back(take_last());
  sockets_.dns_udp.push_back(take_last());
  sockets_.redirected.push_back(take_last());
  sockets_.listeners = std::move(network.sockets);
  if (!plan_.allowed_hosts.empty()) return serve();
  // Most runs without hosts never try to reach one; a thread for each would slow every start.
  first_packet_ = TRY(watch_all(sockets_));
  return spawn::NetworkWatch{.fd = first_packet_.get(), .then = [this] { return serve(); }};
}

Result<spawn::NetworkWatch> EgressSession::serve() {
  first_packet_.reset();
  EgressOptions options{.rules = EgressRules(plan_.allowed_hosts),
                        .proxy = plan_.via_proxy,
                        .events = events_ != nullptr ? &bounded_ : nullptr,
                        .addresses = addresses_};
  if (plan_.registry_credentials) options.registry = registry_endpoint(*plan_.registry_credentials);
  const bool own_tls = (options.registry && options.registry->tls) || (options.proxy && options.proxy->tls());
  if (own_tls) options.trusted = TRY(trusted_certificates(plan_.extra_ca));
  proxy_ = TRY(EgressProxy::start(std::move(sockets_), std::move(options)));
  return spawn::NetworkWatch{.fd = plan_.strict_network ? proxy_->first_denial_fd() : -1};
}

Result<std::vector<Denial>> EgressSession::stop() {
  // A tool may end right after a refusal, before the supervisor's next turn: serve what still waits.
  if (first_packet_ && is_readable(first_packet_.get())) TRY(serve());
  return proxy_ ? proxy_->stop() : std::vector<Denial>();
}

}  // namespace sallyport
