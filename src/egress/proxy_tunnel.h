// Asks the operator's proxy for a tunnel to a host (CONNECT, RFC 9110, 9.3.6), over an open connection to the proxy.
#pragma once

#include <functional>
#include <string>

#include "egress/loop.h"
#include "sallyport/egress.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

// True when connections to `name` (normalised) use the proxy.
[[nodiscard]] bool goes_through(const UpstreamProxy& proxy, std::string_view name);
[[nodiscard]] std::string connect_request(const UpstreamProxy& proxy, std::string_view name, std::uint16_t port);

class ProxyTunnel final : public Watcher {
 public:
  // The socket, whose next byte comes from the host; or none, and the reason.
  using Done = std::function<void(UniqueFd, std::string)>;

  ProxyTunnel(Loop& loop, UniqueFd proxy, std::string request, Done done)
      : loop_(loop), proxy_(std::move(proxy)), request_(std::move(request)), done_(std::move(done)) {}
  ProxyTunnel(const ProxyTunnel&) = delete;
  ProxyTunnel& operator=(const ProxyTunnel&) = delete;

  // Calls `done` once, possibly before it returns; `done` may destroy this object.
  void start();
  void ready(int fd, std::uint32_t events) override;

 private:
  [[nodiscard]] bool send_rest();
  void read_answer(bool ended);
  void finish(std::string problem);

  Loop& loop_;
  UniqueFd proxy_;
  Watch watch_{};
  std::string request_;
  std::size_t sent_ = 0;
  Done done_;
};

}  // namespace sallyport
