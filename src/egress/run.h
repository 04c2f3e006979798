// What the parts of one run's egress share. Made before its thread starts; only that thread uses it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/egress/address_book.h"
#include "core/egress/egress_rules.h"
#include "egress/denial_log.h"
#include "egress/event_outbox.h"
#include "egress/loop.h"
#include "egress/options.h"
#include "egress/pipe_pool.h"
#include "egress/resolver.h"
#include "egress/tls_bridge.h"

namespace sallyport {

// How many bytes all connections of a rule may still move.
struct Budget {
  std::uint64_t up = 0;
  std::uint64_t down = 0;
};

struct EgressRun {
  EgressRun(EgressOptions options, std::unique_ptr<Loop> its_loop, EventFd first_denial)
      : rules(std::move(options.rules)),
        proxy(std::move(options.proxy)),
        registry(std::move(options.registry)),
        timeouts(options.timeouts),
        events(options.events),
        unreachable(events),
        loop(std::move(its_loop)),
        denials(std::move(first_denial), &events, rules.empty()),
        resolver(*loop, options.nameserver),
        tls(std::move(options.trusted)),
        bridges(*loop),
        book(options.addresses,
             options.addresses == AddressRange::kLoopback ? rules.countable_names() : AddressBook::kMostNames) {}

  const EgressRules rules;
  const std::optional<UpstreamProxy> proxy;
  const std::optional<RegistryEndpoint> registry;
  const EgressTimeouts timeouts;
  EventOutbox events;
  UnreachableLog unreachable;
  const std::unique_ptr<Loop> loop;
  DenialLog denials;
  Resolver resolver;
  TlsContext tls;
  TlsBridges bridges;
  std::vector<Budget> budgets{};  // by rule
  AddressBook book;
  PipePool pipes{};
  std::size_t roomy_connections = 0;
  std::array<std::uint8_t, 64 * 1024> buffer{};  // never keeps data from one event to the next
};

}  // namespace sallyport
