// A proxy on loopback for a tool whose kernel cannot send its connections to us in another way (macOS). It sets
// connections up and decides nothing: each goes over the socket of handed.h to the owner of the run, which applies the
// same rules as for every jail.
//
//   std::unique_ptr<ConnectProxy> proxy = TRY(ConnectProxy::open());
//   ...the tool's HTTPS_PROXY is proxy->url(), and only proxy->port() is open to it...
//   UniqueFd connections = TRY(proxy->serve());     // NetworkOpened::connections_handed
//
// It knows only CONNECT. It refuses clients without the run's secret, since every process of the machine can reach the
// port. One thread sets up one connection at a time; a slow one delays only the tool. Uses POSIX alone.
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
  // Listens, but does not serve yet.
  [[nodiscard]] static Result<std::unique_ptr<ConnectProxy>> open();
  ConnectProxy(UniqueFd listener, std::uint16_t port, std::string secret)
      : listener_(std::move(listener)), port_(port), secret_(std::move(secret)) {}
  ConnectProxy(const ConnectProxy&) = delete;
  ConnectProxy& operator=(const ConnectProxy&) = delete;
  ~ConnectProxy();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const;
  // Call once. Returns the socket over which each connection goes to the owner.
  [[nodiscard]] Result<UniqueFd> serve();

 private:
  UniqueFd listener_;
  UniqueFd stop_;      // closed to end the thread
  UniqueFd stopping_;  // the thread's end, which then reads end-of-file
  const std::uint16_t port_;
  const std::string secret_;
  std::thread thread_;
};

}  // namespace sallyport::spawn::posix
