// A run's egress: answers the jail's DNS, accepts what the jail connects to, checks it against the rules, connects
// outside, and moves the bytes. The jail's own network leads nowhere but here.
//
//   std::unique_ptr<EgressProxy> egress = TRY(EgressProxy::start(std::move(sockets), {.rules = EgressRules(rules)}));
//   ...the tool runs; in strict mode the supervisor also polls egress->first_denial_fd()...
//   std::vector<Denial> denials = egress->stop();
//
// One thread per run, with every signal blocked; nothing is shared between runs. The sockets outside are made in the
// network namespace of the thread that calls start().
//
// Memory: a connection costs about 1 KiB and two descriptors while it is idle; up to 64 KiB more while a ClientHello or
// an HTTP head is incomplete or waits for the server, a pipe (256 KiB, at most 64 of them in a run) while bytes are in
// flight, and the kernel's socket buffers. Each looked-up name costs about 200 bytes, at most 65,536 of them; a denial
// about 500, at most 1,001.
#pragma once

#include <memory>
#include <vector>

#include "egress/options.h"
#include "sallyport/jail.h"
#include "sallyport/result.h"

namespace sallyport {

class EgressProxy {
 public:
  [[nodiscard]] static Result<std::unique_ptr<EgressProxy>> start(EgressSockets sockets, EgressOptions options);
  virtual ~EgressProxy() = default;  // stops

  // Readable from the first refusal on. Borrowed: closed by the destructor.
  [[nodiscard]] virtual int first_denial_fd() const = 0;
  // Ends every connection and the thread, closes all sockets, and returns what was refused, in order of first
  // occurrence. Does not wait for connections. A second call returns nothing.
  [[nodiscard]] virtual std::vector<Denial> stop() = 0;
};

}  // namespace sallyport
