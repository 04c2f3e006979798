// The parameters of a run's egress.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/egress/address_book.h"
#include "core/egress/egress_rules.h"
#include "core/egress/registry_endpoint.h"
#include "egress/endpoint.h"
#include "sallyport/event.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

// All but the last bound in the jail's network namespace, where every address is local.
struct EgressSockets {
  std::vector<UniqueFd>
      listeners{};  // TCP on the allowed ports: getsockname() of an accepted socket gives the wanted address
  std::vector<UniqueFd> redirected{};  // TCP for every other port, by netfilter: SO_ORIGINAL_DST gives it
  std::vector<UniqueFd> dns_udp{};
  std::vector<UniqueFd> dns_tcp{};
  UniqueFd refusals{};  // a netlink socket to which the kernel reports its own refusals; may be empty
  UniqueFd handed{};    // of a jail without a network namespace: brings each connection with the wanted address
};

struct EgressTimeouts {
  std::chrono::milliseconds client = std::chrono::seconds(10);   // for a whole ClientHello or HTTP head
  std::chrono::milliseconds connect = std::chrono::seconds(30);  // for the lookup and the connection together
  std::chrono::milliseconds goodbye = std::chrono::seconds(2);   // for a refused client to read why
  std::chrono::milliseconds dns_idle = std::chrono::seconds(10);
};

struct EgressOptions {
  EgressRules rules{};
  // So many at once; others wait in the kernel's queue until one ends.
  std::size_t max_connections = 512;
  std::optional<UpstreamProxy> proxy{};        // the proxy on the way to hosts
  std::optional<RegistryEndpoint> registry{};  // the registry to reach with the operator's credentials
  std::string trusted{};  // certificates (PEM), for TLS of the owner's own: to the proxy, to the registry
  std::optional<Endpoint> nameserver{};  // instead of those of resolv.conf
  EventSink* events = nullptr;           // borrowed until stop(); called on a separate thread
  EgressTimeouts timeouts{};
  // Which addresses names get; kLoopback: at most EgressRules::countable_names(), since init must listen on each.
  AddressRange addresses = AddressRange::kBenchmark;
};

}  // namespace sallyport
