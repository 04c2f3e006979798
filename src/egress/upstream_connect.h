// Connects to the first of several addresses that answers (happy eyeballs, RFC 8305): tries one after the other, a
// quarter of a second apart or as soon as the previous one has failed. It uses exactly these addresses and looks up no
// name again.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <vector>

#include "egress/endpoint.h"
#include "egress/loop.h"

namespace sallyport {

class UpstreamConnect final : public Watcher {
 public:
  // A connected, non-blocking socket; or none, and the last attempt's errno.
  using Done = std::function<void(UniqueFd, int)>;

  UpstreamConnect(Loop& loop, std::vector<Endpoint> addresses, Done done)
      : loop_(loop), addresses_(std::move(addresses)), done_(std::move(done)) {}
  UpstreamConnect(const UpstreamConnect&) = delete;
  UpstreamConnect& operator=(const UpstreamConnect&) = delete;

  // Calls `done` once, possibly before it returns; `done` may destroy this object.
  void start() { try_next(); }
  void ready(int fd, std::uint32_t events) override;

 private:
  struct Attempt {
    UniqueFd fd{};
    Watch watch{};
  };

  void try_next();
  [[nodiscard]] int begin(const Endpoint& endpoint);
  void finish(UniqueFd winner);

  Loop& loop_;
  std::vector<Endpoint> addresses_;
  std::size_t next_ = 0;
  std::list<Attempt> attempts_{};
  Timer stagger_{};
  int last_error_ = 0;
  Done done_;
};

}  // namespace sallyport
