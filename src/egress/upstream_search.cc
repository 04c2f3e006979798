#include "egress/upstream_search.h"

#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "egress/upstream_address.h"

namespace sallyport {

void UpstreamSearch::start() {
  timer_ = run_.loop->after(run_.timeouts.connect, [this] { finish({.unreachable = why(ETIMEDOUT)}); });
  const HostRuleFields& rule = run_.rules.rules()[wanted_.rule].fields();
  if (rule.target) {
    // The policy's author wrote this address, and may mean this machine.
    if (const std::optional<IpAddress> address = parse_ip_address(rule.target->address)) {
      return connect_to({{.address = *address, .port = rule.target->port}});
    }
    return finish({.unreachable = errno_text(EINVAL)});
  }
  by_proxy_ = run_.proxy && goes_through(*run_.proxy, wanted_.name);
  if (by_proxy_) return seek_proxy();
  lookup_ = run_.resolver.resolve(wanted_.name, [this](std::span<const IpAddress> found) { use_addresses(found); });
}

// The operator named the proxy, so any address is allowed.
void UpstreamSearch::seek_proxy() {
  const std::uint16_t port = run_.proxy->port();
  if (const std::optional<IpAddress> address = parse_ip_address(run_.proxy->host())) {
    return connect_to({{.address = *address, .port = port}});
  }
  lookup_ = run_.resolver.resolve(run_.proxy->host(), [this, port](std::span<const IpAddress> found) {
    if (found.empty()) return finish({.unreachable = "the proxy's name does not resolve"});
    std::vector<Endpoint> endpoints;
    for (const IpAddress& address : found) endpoints.push_back({.address = address, .port = port});
    connect_to(std::move(endpoints));
  });
}

void UpstreamSearch::use_addresses(std::span<const IpAddress> found) {
  reserve_.reset();
  const std::optional<std::vector<IpAddress>> own = own_addresses();
  if (!own) return finish({.unreachable = errno_text(errno)});
  const VettedAddresses vetted = vet_addresses(found, *own, run_.rules.rules()[wanted_.rule].fields());
  if (vetted.why_none) {
    return finish({.refusal = Refusal{.reason = *vetted.why_none, .address = vetted.special}});
  }
  std::vector<Endpoint> endpoints;
  for (const IpAddress& address : vetted.usable) endpoints.push_back({.address = address, .port = wanted_.port});
  connect_to(std::move(endpoints));
}

void UpstreamSearch::connect_to(std::vector<Endpoint> endpoints) {
  reserve_.reset();
  connecting_ = std::make_unique<UpstreamConnect>(
      *run_.loop, std::move(endpoints),
      [this](UniqueFd connection, int error) { use_connection(std::move(connection), error); });
  connecting_->start();
}

void UpstreamSearch::use_connection(UniqueFd connection, int error) {
  connecting_.reset();
  lookup_.reset();
  if (!connection) return finish({.unreachable = why(error)});
  if (!by_proxy_) return use_server(std::move(connection));
  if (!run_.proxy->tls()) return ask_proxy(std::move(connection));
  encrypt(std::move(connection), run_.proxy->host(), [this](UniqueFd proxy) { ask_proxy(std::move(proxy)); });
}

void UpstreamSearch::ask_proxy(UniqueFd proxy) {
  tunnel_ = std::make_unique<ProxyTunnel>(*run_.loop, std::move(proxy),
                                          connect_request(*run_.proxy, wanted_.name, wanted_.port),
                                          [this](UniqueFd server, const std::string& problem) {
                                            tunnel_.reset();
                                            if (!problem.empty()) return finish({.unreachable = problem});
                                            use_server(std::move(server));
                                          });
  tunnel_->start();
}

void UpstreamSearch::use_server(UniqueFd server) {
  if (!wanted_.tls) return finish({.server = std::move(server)});
  encrypt(std::move(server), wanted_.name, [this](UniqueFd plain) { finish({.server = std::move(plain)}); });
}

void UpstreamSearch::encrypt(UniqueFd outside, const std::string& name, std::function<void(UniqueFd)> then) {
  const std::string whom = by_proxy_ && name == run_.proxy->host() ? "the proxy" : "the host";
  encrypting_ = std::make_unique<TlsBridge>(
      *run_.loop, std::move(outside), [this, whom, then = std::move(then)](UniqueFd plain, const std::string& problem) {
        if (!plain) return finish({.unreachable = whom + ": " + problem});
        run_.bridges.keep(std::move(encrypting_));
        then(std::move(plain));
      });
  encrypting_->start(run_.tls, name);
}

// Without the prefix a reader would suspect the host.
std::string UpstreamSearch::why(int error) const { return (by_proxy_ ? "the proxy: " : "") + errno_text(error); }

void UpstreamSearch::finish(Found found) {
  timer_.reset();
  const Done done = std::exchange(done_, nullptr);
  if (done) done(std::move(found));
}

void UpstreamSearch::cancel() {
  done_ = nullptr;
  timer_.reset();
  reserve_.reset();
  lookup_.reset();
  connecting_.reset();
  encrypting_.reset();
  tunnel_.reset();
}

}  // namespace sallyport
