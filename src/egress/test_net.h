// Two networks for the tests: "outside", a namespace of the test process's own where every address is local, so that a
// test server can have any address of the internet; and a jail's, made like the real one. Nothing reaches the host's
// network.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "egress/endpoint.h"
#include "sallyport/unique_fd.h"

namespace sallyport::test {

// Call once per process, before any thread starts. False: this host allows us no network namespace.
[[nodiscard]] bool enter_outside();

class JailNet {
 public:
  JailNet();
  // A blocking socket in the jail's namespace, for any thread.
  [[nodiscard]] UniqueFd socket(bool v6, int type) const;
  [[nodiscard]] UniqueFd listener(bool v6, std::uint16_t port) const;
  [[nodiscard]] UniqueFd udp(bool v6, std::uint16_t port) const;
  // A connection as a tool would make it; empty when it is refused, errno says why.
  [[nodiscard]] UniqueFd connect(const Endpoint& to) const;
  // False: this kernel has no nftables with NAT.
  [[nodiscard]] bool redirect_other_ports(const std::vector<std::uint16_t>& listening, std::uint16_t catch_all) const;
  // The socket that gets the refusals; empty: this kernel cannot do this.
  [[nodiscard]] UniqueFd refuse_at_once(const std::vector<std::uint16_t>& listening) const;
  [[nodiscard]] bool prohibit_groups() const;

 private:
  UniqueFd outside_;
  UniqueFd inside_;
};

[[nodiscard]] Endpoint at(std::string_view address, std::uint16_t port);
// Sets a deadline for each receive and send, so that a hang becomes a failure.
void use_deadline(int fd);
// Sends all of it, or returns false.
bool send_all(int fd, std::string_view bytes);
// Receives until `count` bytes, the end, or an error. `error` is 0 at an orderly end, ECONNRESET at a reset.
struct Received {
  std::string bytes{};
  int error = 0;
  bool ended = false;
};
[[nodiscard]] Received receive(int fd, std::size_t count = static_cast<std::size_t>(-1));
// Receives until the given end of a line or head.
[[nodiscard]] std::string receive_until(int fd, std::string_view end);

// A server outside. Each connection has a thread that runs `serve` on it.
class Server {
 public:
  explicit Server(std::function<void(int)> serve, const Endpoint& where = at("127.0.0.1", 0));
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const { return where_.port; }
  [[nodiscard]] int connections() const { return accepted_; }
  // Waits until no connection is open. Afterwards the caller may read what the threads wrote.
  void wait();

 private:
  void accept_all();

  std::function<void(int)> serve_;
  Endpoint where_;
  UniqueFd listener_;
  std::atomic<int> accepted_ = 0;
  std::mutex mutex_{};
  std::vector<int> open_{};
  std::vector<std::thread> threads_{};
  std::thread acceptor_{};
};

// Records everything it receives, and answers each connection at its end, or with `greeting` at once.
class Recorder {
 public:
  explicit Recorder(std::string answer = "", const Endpoint& where = at("127.0.0.1", 0));
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  [[nodiscard]] int connections() const { return server_.connections(); }
  // What it has received so far.
  [[nodiscard]] std::string received();
  // What it has received when every connection has ended.
  [[nodiscard]] std::string received_at_end();

 private:
  std::string answer_;
  std::mutex mutex_{};
  std::string received_{};
  Server server_;
};

}  // namespace sallyport::test
