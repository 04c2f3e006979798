// Egress of one run: what the jail's network namespace must have, and the proxy that answers for it.
#pragma once

#include <memory>
#include <vector>

#include "egress/egress.h"
#include "gate/bounded_events.h"
#include "sallyport/event.h"
#include "sallyport/jail_port.h"
#include "sallyport/plan.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport {

// What the kernel is asked for and which sockets are opened inside. Empty when the plan allows no host.
[[nodiscard]] Result<spawn::NetworkSpec> network_for(const Plan& plan);

class EgressSession {
 public:
  EgressSession(const Plan& plan, EventSink* events) : plan_(plan), events_(events), bounded_(events) {}

  [[nodiscard]] bool wanted() const { return !plan_.allowed_hosts.empty(); }
  // Takes the sockets as network_for() ordered them; the descriptor to watch in strict mode, or -1.
  [[nodiscard]] Result<int> start(NetworkOpened network);
  [[nodiscard]] std::vector<Denial> stop();

 private:
  const Plan& plan_;
  EventSink* events_;
  BoundedEvents bounded_;
  std::unique_ptr<EgressProxy> proxy_;
};

}  // namespace sallyport
