// Makes the connection to an allowed name: looks it up, judges its addresses and connects, or goes through the
// operator's proxy; adds TLS where the owner itself is the client.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "egress/first_bytes.h"
#include "egress/proxy_tunnel.h"
#include "egress/run.h"
#include "egress/tls_bridge.h"
#include "egress/upstream_connect.h"

namespace sallyport {

class UpstreamSearch {
 public:
  struct Wanted {
    std::string name{};
    std::uint16_t port = 0;
    std::size_t rule = 0;
    bool tls = false;  // to the host itself; its certificate must be for `name`
  };
  struct Found {
    UniqueFd server{};                 // connected, non-blocking; or one of:
    std::optional<Refusal> refusal{};  // no rule allows what was found
    std::string unreachable{};         // why
  };
  using Done = std::function<void(Found)>;

  // `reserve` is a descriptor kept for the server's socket.
  UpstreamSearch(EgressRun& run, Wanted wanted, UniqueFd reserve, Done done)
      : run_(run), wanted_(std::move(wanted)), reserve_(std::move(reserve)), done_(std::move(done)) {}
  UpstreamSearch(const UpstreamSearch&) = delete;
  UpstreamSearch& operator=(const UpstreamSearch&) = delete;

  // Calls `done` once, possibly before it returns. `done` may cancel; it must not destroy this object.
  void start();
  // Stops everything.
  void cancel();

 private:
  void use_addresses(std::span<const IpAddress> found);
  void connect_to(std::vector<Endpoint> endpoints);
  void seek_proxy();
  void use_connection(UniqueFd connection, int error);
  void ask_proxy(UniqueFd proxy);
  void use_server(UniqueFd server);
  void encrypt(UniqueFd outside, const std::string& name, std::function<void(UniqueFd)> then);
  [[nodiscard]] std::string why(int error) const;
  void finish(Found found);

  EgressRun& run_;
  const Wanted wanted_;
  UniqueFd reserve_;
  Done done_;
  Timer timer_{};
  bool by_proxy_ = false;
  Resolver::Request lookup_{};
  std::unique_ptr<UpstreamConnect> connecting_{};
  std::unique_ptr<TlsBridge> encrypting_{};
  std::unique_ptr<ProxyTunnel> tunnel_{};
};

}  // namespace sallyport
