// Egress of one run: what the jail's network namespace must have, and the proxy that answers for it.
#pragma once

#include <memory>
#include <vector>

#include "egress/egress.h"
#include "gate/bounded_events.h"
#include "sallyport/event.h"
#include "sallyport/jail_port.h"
#include "sallyport/plan.h"
#include "spawn/owner/supervise.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport {

// The requests to the kernel and the sockets that init opens inside. A plan that allows no host gets the same without
// listening ports, so that each of the tool's attempts is refused at once and reported by name.
[[nodiscard]] Result<spawn::NetworkSpec> network_for(const Plan& plan);
// What network_for() gives a plan without hosts. Jails that are built ahead get it: a run with the same network takes it
// over, any other run makes its own.
[[nodiscard]] spawn::NetworkSpec network_without_hosts();

class EgressSession {
 public:
  EgressSession(const Plan& plan, EventSink* events) : plan_(plan), events_(events), bounded_(events) {}

  // Takes the sockets as network_for() ordered them.
  [[nodiscard]] Result<spawn::NetworkWatch> start(NetworkOpened network);
  // What was refused. An error means that something was refused that we cannot name.
  [[nodiscard]] Result<std::vector<Denial>> stop();

 private:
  [[nodiscard]] Result<spawn::NetworkWatch> serve();

  const Plan& plan_;
  EventSink* events_;
  BoundedEvents bounded_;
  EgressSockets sockets_{};
  AddressRange addresses_ = AddressRange::kBenchmark;
  UniqueFd first_packet_{};  // readable when one of `sockets_` is; only until the proxy serves them
  std::unique_ptr<EgressProxy> proxy_;
};

}  // namespace sallyport
