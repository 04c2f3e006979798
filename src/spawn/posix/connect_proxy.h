// A proxy on loopback for a tool whose kernel cannot lead its connections to us otherwise (macOS). It sets connections up and
// decides nothing: each goes over the socket of handed.h to the owner of the run, which keeps the same rules as everywhere.
//
//   std::unique_ptr<ConnectProxy> proxy = TRY(ConnectProxy::open());
//   ...the tool's HTTPS_PROXY is proxy->url(), and only proxy->port() is open to it...
//   UniqueFd connections = TRY(proxy->serve());     // NetworkOpened::connections_handed
//
// It knows CONNECT and nothing else. Who has not the run's secret is turned away: the port is open to every process of the machine.
// One thread, one connection at a time until it is handed over; waiting for a slow one costs the tool alone. By POSIX alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::spawn::posix {

class ConnectProxy {
 public:
  // Listens; serves nobody yet.
  [[nodiscard]] static Result<std::unique_ptr<ConnectProxy>> open();
  ConnectProxy(UniqueFd listener, std::uint16_t port, std::string secret)
      : listener_(std::move(listener)), port_(port), secret_(std::move(secret)) {}
  ConnectProxy(const ConnectProxy&) = delete;
  ConnectProxy& operator=(const ConnectProxy&) = delete;
  ~ConnectProxy();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const;
  // Once. The other end of what each connection goes over.
  [[nodiscard]] Result<UniqueFd> serve();

 private:
  UniqueFd listener_;
  UniqueFd stop_;      // closed to end the thread
  UniqueFd stopping_;  // which then sees the end of it
  const std::uint16_t port_;
  const std::string secret_;
  std::thread thread_;
};

}  // namespace sallyport::spawn::posix
